"""Drives the earlier system's own classes for the interop tests: one JSON request per line, one JSON answer per line.

Every request names the state root it is about; nothing is kept between two requests, as between two runs of a daemon.
"""

import json
import sys
import types
from pathlib import Path

# Its configuration alone is YAML, and nothing here reads that: without its dependencies the module only has to be there.
sys.modules.setdefault("yaml", types.ModuleType("yaml"))

import the_loop.control
import the_loop.sessions.registry
from the_loop.control import ControlStore
from the_loop.poller.poller import PollState
from the_loop.sessions.registry import Session, SessionRegistry, WorkItemRef
from the_loop.state import StateLayout, legacy_layout
from the_loop.workitem import WorkItemStore


class Peer:
    """The earlier system over one state root."""

    def __init__(self, root):
        layout = StateLayout(root)
        legacy = legacy_layout(layout)
        self.sessions_dir = Path(legacy.sessions_dir)
        self.portable = layout.portable_dir
        self.controls = ControlStore(self.portable, legacy=legacy)
        self.items = WorkItemStore(self.portable, legacy=legacy)
        self.polls = PollState(WorkItemStore(self.portable, legacy=legacy))
        self.registry = SessionRegistry(layout.local_dir)

    # What it writes.

    def control(self, ref, command, at, actor="mona"):
        the_loop.control._utcnow = lambda: at
        self.controls.record(ref, command, source="comment", actor=actor, note="")

    def clear(self, ref):
        self.controls.clear(ref)

    def graph(self, ref, value):
        self.controls.record_frozen_graph(ref, value)

    def seen(self, ref, comment, gave_up=False):
        self.polls.resolve_comment(ref, comment, gave_up=gave_up)
        self.polls.save()

    def attempt(self, ref, comment):
        self.polls.note_comment_attempt(ref, comment)
        self.polls.save()

    def finalize(self, ref, live, at):
        self.polls.finalize(ref, live, at)
        self.polls.save()

    def forget(self, ref):
        self.polls.forget(ref)

    def register(self, ref, conversation, cwd, tmux, at, pulls=(), paused=False):
        the_loop.sessions.registry._utcnow = lambda: at
        item = WorkItemRef.parse(ref)
        self.registry.register(
            Session(item, "claude", conversation, cwd, tmux_target=tmux, created_at=at, last_event_at=at)
        )
        for pull in pulls:
            self.registry.link_pull_request(item, WorkItemRef.parse(pull))
        if paused:
            self.registry.pause(item)

    # What its older versions wrote, in their places.

    def old_control(self, ref, command, at, actor="mona"):
        record = the_loop.control.ControlRecord(ref, command, "comment", actor, at, "")
        self._old(Path("control") / f"{WorkItemRef.parse(ref).slug}.json", record.to_dict())

    def old_polls(self, items):
        self._old(Path("poll-state.json"), {"items": items})

    def _old(self, name, value):
        path = self.sessions_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=2) + "\n")

    # What it reads.

    def read(self, ref):
        return {
            "armed": self.controls.start_requested(ref),
            "seen": sorted(self.polls.seen_comments(ref)),
            "record": self.items.read(ref),
            "exists": self.items.path_for(ref).exists(),
            "url": WorkItemRef.parse(ref).url,
        }

    def refs(self):
        return sorted(self.items.refs())

    def parse_session(self, record):
        session = Session.from_dict(record)
        return {"live": session.is_live, "paused": session.is_paused, "record": session.to_dict()}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        name, root = request.pop("do"), request.pop("root")
        try:
            answer = {"ok": getattr(Peer(root), name)(**request)}
        except Exception as error:  # told to the test, which fails with it
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
