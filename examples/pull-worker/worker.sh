#!/usr/bin/env bash
# A worker in shell that pulls its tasks from a Holdfast server, and runs a command for each. Needs curl and jq.
#
#   HOLDFAST_SERVER=http://127.0.0.1:8080 HOLDFAST_QUEUE=texts ./worker.sh wc -w
#
# The command gets the payload on its standard input. Exit code 0: what it printed is the result. Any other:
# the task failed, with the end of its standard error as the message; 64 and 65 say that trying again cannot
# help. README.md beside this file says why each step is there.
set -u
url=${HOLDFAST_SERVER:-http://127.0.0.1:8080}
queue=${HOLDFAST_QUEUE:-default}
api_token=${HOLDFAST_API_TOKEN:-none}
lease=${HOLDFAST_LEASE:-30} # seconds until others may have what we leave behind
(($#)) || { echo "usage: worker.sh COMMAND [ARGUMENT…]" >&2; exit 2; }

temp=$(mktemp -d)
mkfifo "$temp/never" # nothing ever comes: reading from it is a sleep without a process of its own
pause=$(jq -n "$lease / 3") || exit 2
trap 'rm -rf "$temp"' EXIT
stopping=''
trap 'stopping=1' TERM INT

# One call with the body in a file: 0 answered, 1 refused, 2 another try may help. The token goes through a
# file descriptor: arguments can be seen by everyone.
post() { # PATH BODY ANSWER
  local status
  status=$(curl -sS --max-time 60 -o "$3" -w '%{http_code}' -H 'Content-Type: application/json' \
    -K <(printf 'header = "Authorization: Bearer %s"\n' "$api_token") \
    --data-binary "@$2" "$url$1") || return 2
  case $status in
    2??) return 0 ;;
    429 | 5??) echo "$url$1: $status" >&2; return 2 ;;
    *) echo "$url$1: $status $(cat "$3")" >&2; return 1 ;;
  esac
}

# The same until there is an answer, however long the server is away; a poll ends when we are told to stop.
insist() { # PATH BODY ANSWER
  local wait=1 how
  while true; do
    post "$@"
    how=$?
    ((how == 2)) || return "$how"
    [[ $1 == /v1/claims && $stopping ]] && return 2
    sleep "$wait"
    wait=$((wait < 16 ? wait * 2 : 30))
  done
}

# Extends the lease until it is killed; ends the command if somebody else has the task by now.
keep() { # CLAIM TOKEN PID
  jq -n --argjson token "$2" --argjson lease "$lease" '{$token, $lease}' >"$temp/extension"
  until read -rt "$pause" _ <>"$temp/never"; do
    post "$1/extend" "$temp/extension" "$temp/extended"
    (($? == 1)) && kill -- "-$3"
  done
}

run() { # the first claim of $temp/claims
  local id token attempt pid keeper code
  read -r id token attempt < <(jq -r '.claims[0] | "\(.id) \(.token) \(.attempt)"' "$temp/claims")
  # A payload comes as what it is: JSON, text, or bytes in Base64.
  jq -j '.claims[0] | if .payload_text then .payload_text elif .payload_base64 then ""
    elif has("payload") then .payload | tojson else "" end' "$temp/claims" >"$temp/payload"
  jq -j '.claims[0].payload_base64 // ""' "$temp/claims" | base64 -d >>"$temp/payload"

  # A session of its own: out of reach of a Ctrl-C that is meant for us, and killed with all its children.
  HOLDFAST_TASK_ID=$id HOLDFAST_ATTEMPT=$attempt HOLDFAST_TOKEN=$token \
    setsid "${command[@]}" <"$temp/payload" >"$temp/result" 2>"$temp/errors" &
  pid=$!
  keep "/v1/claims/$id" "$token" "$pid" &
  keeper=$!
  while wait "$pid"; code=$?; kill -0 "$pid" 2>/dev/null; do :; done # a signal to us ends a wait early

  if ((code == 0)); then
    base64 -w 0 "$temp/result" | jq -R --argjson token "$token" '{$token, result_base64: .}' >"$temp/said"
    # Refused, and still ours: a result that is too large will be so again.
    if ! insist "/v1/claims/$id/complete" "$temp/said" "$temp/settled" &&
      jq -e '.status != 409 and .status != 404' "$temp/settled" >/dev/null; then
      jq -r .detail "$temp/settled" >"$temp/errors"
      code=65
    fi
  fi
  if ((code)); then
    tail -c 2000 "$temp/errors" | jq -Rs --argjson token "$token" --argjson code "$code" \
      '{$token, exit_code: $code, kind: (if $code > 128 then "crash" else "error" end),
        message: (if . == "" then "exit code \($code)" else . end)}
       + if $code == 64 or $code == 65 then {http_status: 422} else {} end' >"$temp/said"
    insist "/v1/claims/$id/fail" "$temp/said" "$temp/settled"
  fi
  kill "$keeper" 2>/dev/null
  wait "$keeper" 2>/dev/null
  echo "$id attempt $attempt: $(jq -r '.state // "not settled: \(.detail)"' "$temp/settled")"
}

command=("$@")
jq -n --arg queue "$queue" --argjson lease "$lease" --arg worker "$(hostname)-$$" \
  '{$queue, $lease, $worker, wait: "5s"}' >"$temp/poll"
# A poll that is under way is waited for: a claim that we ran away from would count as a crash.
while [[ ! $stopping ]]; do
  insist /v1/claims "$temp/poll" "$temp/claims"
  case $? in
    1) exit 1 ;; # it said why
    0) [[ $(jq '.claims | length' "$temp/claims") == 1 ]] && run ;;
  esac
done
exit 0
