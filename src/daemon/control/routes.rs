//! What the control socket is asked, as warp filters.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use warp::http::{Response, StatusCode};
use warp::{Filter, Rejection, Stream};

use super::serve::Control;
use super::wire::{Answer, HELLO, MAX_REQUEST, PROGRAM, PROGRAM_HEADER, PROGRESS, RELOAD, REQUEST, STOP};
use crate::app::request::{Request, Trouble, TroubleKind};

/// A request has this long to arrive whole.
const BODY: Duration = Duration::from_secs(5);

type Shared = Arc<dyn Control>;

/// The routes. What every version may ask stands before the look at the version.
pub(super) fn routes(
    control: Shared,
) -> impl Filter<Extract = (Response<Bytes>,), Error = Infallible> + Clone + Send + Sync + 'static {
    let with = move || {
        let control = control.clone();
        warp::any().map(move || control.clone())
    };
    let hello = at(HELLO).and(warp::get()).and(with()).map(|control: Shared| Answer::Hello(control.hello()));
    let stop = at(STOP).and(warp::post()).and(with()).map(|control: Shared| {
        control.stop();
        Answer::Hello(control.hello())
    });
    let stranger = other_version().and(with()).map(|control: Shared| Answer::Hello(control.hello()));
    let reload = at(RELOAD).and(warp::post()).and(with()).then(|control: Shared| {
        blocking(move || match control.reload() {
            Ok(keys) => Answer::Reloaded(keys),
            Err(trouble) => Answer::Trouble(trouble),
        })
    });
    let progress = at(PROGRESS)
        .and(warp::get())
        .and(with())
        .then(|control: Shared| blocking(move || Answer::Progress(Box::new(control.progress()))));
    let request = at(REQUEST)
        .and(warp::post())
        .and(with())
        .and(warp::body::content_length_limit(MAX_REQUEST))
        .and(warp::body::stream())
        .then(request);
    let any = hello.or(stop).unify().or(stranger).unify().or(reload).unify().or(progress).unify().or(request).unify();
    any.map(|answer: Answer| response(StatusCode::OK, &answer)).recover(refuse).unify()
}

/// A fixed path.
fn at(wanted: &'static str) -> impl Filter<Extract = (), Error = Rejection> + Copy {
    warp::path::full()
        .and_then(move |path: warp::path::FullPath| {
            let found = if path.as_str() == wanted { Ok(()) } else { Err(warp::reject::not_found()) };
            std::future::ready(found)
        })
        .untuple_one()
}

/// Matches what does not come from a program of our version.
fn other_version() -> impl Filter<Extract = (), Error = Rejection> + Copy {
    warp::header::headers_cloned()
        .and_then(|headers: warp::http::HeaderMap| {
            let ours = headers.get(PROGRAM_HEADER).is_some_and(|program| program.as_bytes() == PROGRAM.as_bytes());
            std::future::ready(if ours { Err(warp::reject::not_found()) } else { Ok(()) })
        })
        .untuple_one()
}

/// The store and the folder are waited for on a thread that may block.
async fn blocking(body: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    spawn_blocking(body)
        .await
        .unwrap_or_else(|_| Answer::Trouble(Trouble::new(TroubleKind::Bug, "the daemon met a bug in this request")))
}

async fn request(
    control: Shared,
    body: impl Stream<Item = Result<impl warp::Buf, warp::Error>> + Send + Unpin + 'static,
) -> Answer {
    let refused = |text: String| Answer::Trouble(Trouble::new(TroubleKind::Bug, text));
    let bytes = match timeout(BODY, collect(body)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return refused(format!("the request did not arrive: {error}")),
        Err(_) => return refused("the request did not arrive in time".into()),
    };
    let request: Request = match serde_json::from_slice(&bytes) {
        Ok(request) => request,
        Err(error) => return refused(format!("the request is not one we know: {error}")),
    };
    blocking(move || match control.respond(&request) {
        Ok(response) => Answer::Response(Box::new(response)),
        Err(trouble) => Answer::Trouble(trouble),
    })
    .await
}

async fn collect(
    mut body: impl Stream<Item = Result<impl warp::Buf, warp::Error>> + Unpin,
) -> Result<Vec<u8>, warp::Error> {
    let mut bytes = Vec::new();
    while let Some(part) = std::future::poll_fn(|context| std::pin::Pin::new(&mut body).poll_next(context)).await {
        let mut part = part?;
        while part.has_remaining() {
            let length = part.chunk().len();
            bytes.extend_from_slice(part.chunk());
            part.advance(length);
        }
    }
    Ok(bytes)
}

/// Whatever no route takes: wrong path, wrong method, too long.
async fn refuse(rejection: Rejection) -> Result<Response<Bytes>, Infallible> {
    let status = if rejection.is_not_found() { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
    let trouble = Trouble::new(TroubleKind::Bug, format!("the control socket has no such request: {rejection:?}"));
    Ok(response(status, &Answer::Trouble(trouble)))
}

fn response(status: StatusCode, answer: &Answer) -> Response<Bytes> {
    match serde_json::to_vec(answer) {
        Ok(bytes) => {
            let mut response = Response::new(Bytes::from(bytes));
            *response.status_mut() = status;
            response
        }
        Err(error) => {
            let mut response = Response::new(Bytes::from(error.to_string()));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        }
    }
}
