#!/bin/sh
# Behaves like the real one, as far as the-loop can tell: trust, conversations, transcripts, dialogs, a prompt.
dir=@
name=$dir/heard/$(printf %s "$THE_LOOP_ENDPOINT" | tr / _)
env > "$name.env"
echo $$ >> "$name.pids"
echo "$*" >> "$name.args"
folder=$HOME/.claude/projects/$(pwd -P | sed 's/[^A-Za-z0-9]/-/g')
esc=$(printf '\033')
print=no
while [ $# -gt 0 ]; do
    case $1 in
    -p) print=yes ;;
    --session-id) id=$2; shift; [ -e "$folder/$id.jsonl" ] && { echo "Session ID $id is already in use."; exit 1; } ;;
    --resume) id=$2; shift; [ -e "$folder/$id.jsonl" ] || { echo "No conversation found with session ID: $id"; exit 1; } ;;
    esac
    shift
done

taken() {
    mkdir -p "$folder"
    text=$(printf '%s\n' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | awk '{printf "%s\\n", $0}')
    printf '{"type":"user","message":{"role":"user","content":"%s"}}\n' "$text" >> "$folder/$id.jsonl"
    printf '%s\n' "$1" >> "$name"
}

# One key of a person; what else arrives here would have answered the dialog.
answered() {
    stty raw -echo
    key=$(dd bs=1 count=1 2>/dev/null)
    stty cooked -echo
    [ "$key" = y ] || echo "$key" >> "$dir/wrong-key"
    printf '\033[H\033[2J'
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

stty -echo
if ! grep -qF "\"$(pwd -P)\": {\"hasTrustDialogAccepted\": true" "$HOME/.claude.json" 2>/dev/null; then
    echo asked >> "$dir/trust-dialogs"
    printf ' Do you trust this folder?\n\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to cancel\n'
    answered
fi
printf '\033[?2004hClaude Code\n────\n❯ '
text=
while IFS= read -r line; do
    text="$text$line
"
    case $line in *"$esc[201~"*) ;; *) continue ;; esac
    text=$(printf %s "$text" | sed "s/$esc\[20[01]~//g")
    taken "$text"
    printf '\n✻ Working… (esc to interrupt)\n'
    case $text in
    *"die now"*) exit 0 ;;
    *"ask me"*)
        printf ' Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n'
        answered
        ;;
    esac
    text=
    printf '⏺ Done. Do you want to proceed?\n────\n❯ '
done
