-- Tells of every queue. Changes nothing.
-- Arguments: none.
-- Returns for each queue its name, counts by state as a list of seven, paused, concurrency, backlog, and
--   the earliest due time of what waits, or "".
local answer = {}
local queues = call('HGETALL', root .. 'q')
for at = 1, #queues, 2 do
  local queue = queues[at + 1]
  local kept = call('HMGET', root .. 'c' .. queue, 0, 1, 2, 3, 4, 5, 6, 'paused', 'concurrency', 'backlog')
  local states = {}
  for state = 1, 7 do
    states[state] = tonumber(kept[state] or 0)
  end
  local due_score, due_member
  for _, priority in ipairs(call('ZRANGE', root .. 'p' .. queue, 0, -1)) do
    local head = call('ZRANGE', root .. 'w' .. queue .. ':' .. priority, 0, 0, 'WITHSCORES')
    if head[1] and (not due_score or tonumber(head[2]) < due_score) then
      due_score, due_member = tonumber(head[2]), head[1]
    end
  end
  local due = due_member and call('GETRANGE', root .. 't' .. due_member:sub(9), 27, 34) or ''
  answer[#answer + 1] = { queues[at], states, tonumber(kept[8] or 0), tonumber(kept[9] or 0),
                          tonumber(kept[10] or 0), due }
end
return answer
