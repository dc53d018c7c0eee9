#!/bin/sh
# Behaves like the real one of its kind, as far as the-loop can tell: arguments, trust, conversations, transcripts,
# dialogs, the line in which it is typed, and what it says when it ends.
kind=@kind
dir=@dir
name=$dir/heard/$(printf %s "$THE_LOOP_ENDPOINT" | tr / _)
env > "$name.env"
echo $$ >> "$name.pids"
echo "$*" >> "$name.args"
esc=$(printf '\033')
here=$(pwd -P)
print=no
id=
fresh() { id=$(cat /proc/sys/kernel/random/uuid); }
missing() { echo "$1: $id"; sleep 0.2; exit 1; }

# Where its conversation is kept, and how it begins.
case $kind in
claude)
    folder=$HOME/.claude/projects/$(printf %s "$here" | sed 's/[^A-Za-z0-9]/-/g')
    while [ $# -gt 0 ]; do
        case $1 in
        -p) print=yes ;;
        --session-id) id=$2; shift; [ -e "$folder/$id.jsonl" ] && { echo "Session ID $id is already in use."; exit 1; } ;;
        --resume) id=$2; shift; [ -e "$folder/$id.jsonl" ] || { echo "No conversation found with session ID: $id"; exit 1; } ;;
        esac
        shift
    done
    file=$folder/$id.jsonl
    mark='❯ ' ;;
codex)
    folder=$HOME/.codex/sessions/2026/11/29
    if [ "$1" = resume ]; then
        id=$2
        file=$(ls "$folder"/rollout-*-"$id.jsonl" 2>/dev/null) || missing 'No saved session found with ID'
    else
        fresh
        file=$folder/rollout-2026-11-29T09-00-00-$id.jsonl
    fi
    mark='› ' ;;
cursor)
    folder=$HOME/.cursor/projects/$(printf %s "$here" | sed 's/[^A-Za-z0-9][^A-Za-z0-9]*/-/g; s/^-//; s/-$//')/agent-transcripts
    if [ "$1" = --resume ]; then
        id=$2
        [ -e "$folder/$id/$id.jsonl" ] || missing 'No chat with id'
    else
        fresh
    fi
    folder=$folder/$id
    file=$folder/$id.jsonl
    mark='  → ' ;;
opencode)
    folder=$HOME/.local/share/opencode
    if [ "$1" = --session ]; then
        id=$2
        [ -e "$folder/$id" ] || missing 'Session not found'
    else
        fresh
        id=ses_$(printf %s "$id" | tr -d -)
    fi
    file=$folder/$id
    mark='  ┃  ' ;;
esac

taken() {
    mkdir -p "$folder"
    text=$(printf '%s\n' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | awk '{printf "%s\\n", $0}')
    case $kind in
    claude) printf '{"type":"user","message":{"role":"user","content":"%s"}}\n' "$text" >> "$file" ;;
    codex)
        [ -e "$file" ] || printf '{"type":"session_meta","payload":{"id":"%s","cwd":"%s","source":"cli"}}\n' "$id" "$here" > "$file"
        printf '{"type":"event_msg","payload":{"type":"user_message","message":"%s"}}\n' "$text" >> "$file" ;;
    cursor) printf '{"role":"user","message":{"content":[{"type":"text","text":"<user_query>%s</user_query>"}]}}\n' "$text" >> "$file" ;;
    opencode) echo >> "$file" ;;
    esac
    printf '%s\n' "$1" >> "$name"
}

# One key of a person; what else arrives here would have answered the dialog.
answered() {
    stty raw -echo
    key=$(dd bs=1 count=1 2>/dev/null)
    stty cooked echo
    [ "$key" = y ] || echo "$key" >> "$dir/wrong-key"
    printf '\033[H\033[2J'
}

asks_for_trust() {
    echo asked >> "$dir/trust-dialogs"
    case $kind in
    claude) printf ' Do you trust this folder?\n\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to cancel\n' ;;
    codex) printf '> You are in %s\n\n› 1. Yes, continue\n  2. No, quit\n\n  Press enter to continue\n' "$here" ;;
    cursor) printf '  ⚠ Workspace Trust Required\n\n  %s\n\n  ▶ [a] Trust this workspace\n    [q] Quit\n' "$here" ;;
    opencode) printf '  Connect a provider                esc\n\n  Search\n' ;;
    esac
    answered
}

asks() {
    case $kind in
    claude) printf ' Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n' ;;
    codex) printf '  Would you like to run the following command?\n\n› 1. Yes, proceed (y)\n  2. No\n\n  Press enter to confirm or esc to cancel\n' ;;
    cursor) printf ' Run this command?\n  → Run (once) (y) (enter)\n    Skip (esc or n)\n' ;;
    opencode) printf '┃  △ Permission required\n┃\n┃   Allow once   Allow always   Reject\n' ;;
    esac
    answered
}

# Says goodbye, as it does when a person leaves it.
leaves() {
    case $kind in
    codex) printf '\nToken usage: total=1\nTo continue this session, run codex resume %s\n' "$id" ;;
    cursor) printf '\nTo resume this session: cursor-agent --resume=%s\n' "$id" ;;
    opencode) printf '\033[?1049l\n  Session   A title\n  Continue  opencode -s %s\n' "$id" ;;
    esac
    # tmux 3.3a now and then loses what a program writes in its very last moment.
    sleep 0.3
    exit 0
}

if [ $print = yes ]; then
    text=$(cat)
    taken "$text"
    case $text in
    *"fail now"*) exit 3 ;;
    *"take long"*) while [ ! -e "$dir/go" ]; do sleep 0.05; done ;;
    esac
    echo Done.
    exit 0
fi

if [ -e "$dir/cannot-start" ]; then
    echo 'Error: not logged in'
    sleep 0.3
    exit 3
fi
stty -echo
[ $kind = opencode ] && printf '\033[?1049h'
if [ $kind = claude ]; then
    grep -qF "\"$here\": {\"hasTrustDialogAccepted\": true" "$HOME/.claude.json" 2>/dev/null || asks_for_trust
elif [ -e "$dir/ask-trust" ]; then
    rm "$dir/ask-trust"
    asks_for_trust
fi
stty echo
printf '\033[?2004hWelcome to %s\n────\n%s' "$kind" "$mark"
text=
while IFS= read -r line; do
    case $text$line in
    "$esc[200~"*) ;;
    *"$esc[200~"*) echo "$line" >> "$dir/typed-over" ;;
    *) printf '%s\n' "$line" >> "$dir/person-said"; printf '%s' "$mark"; continue ;;
    esac
    text="$text$line
"
    case $line in *"$esc[201~"*) ;; *) continue ;; esac
    text=$(printf %s "$text" | sed "s/$esc\[20[01]~//g")
    taken "$text"
    printf '\n✻ Working… (esc to interrupt)\n'
    case $text in
    *"die now"*) exit 0 ;;
    *"leave now"*) leaves ;;
    *"ask me"*) asks ;;
    *"take your time"*) while [ ! -e "$dir/go" ]; do sleep 0.05; done ;;
    esac
    text=
    printf '⏺ Done. Do you want to proceed?\n────\n%s' "$mark"
done
