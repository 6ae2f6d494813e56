-- The same as change.lua for tasks that the caller has claimed and knows all of: it has worked out what they
-- will be, and they are written so if the claim still holds. This is where most of the work is done, and each
-- text that Lua makes costs time: no more of them than needed.
-- Arguments: caller, call; then for tasks that go the same way: queue, priority + 100, state they go to, score
--   there, how many; if that is a group's, its 17 bytes (see group_at) and an example, else two empty ones;
--   and for each task, no task twice: 8 number, 16 id, 8 token, 79 bytes the beginning of its record
--   afterwards, and all its attempts.
-- Returns a text with one letter for each: "a" applied, "m" it has moved on, "u" there is no such task.
local before = told_before()
if before then return before end

local answers = {}
local running = root .. 'r'
local left = {}
leaves[running] = left

-- `claims`: what R has of the tasks from ARGV[first] on.
local function settle(first, claims, score, entering, group)
  local applied = 0
  for at, claim in ipairs(claims) do
    local argument = ARGV[first + at - 1]
    local id = argument:sub(9, 24)
    if claim and claim:sub(1, 8) == argument:sub(25, 32) then
      local member = argument:sub(1, 24)
      call('SETRANGE', root .. 't' .. id, 0, argument:sub(33, 111))
      attempts[#attempts + 1] = root .. 'a' .. id
      attempts[#attempts + 1] = argument:sub(112)
      left[#left + 1] = member
      done[#done + 1] = id
      entering[#entering + 1] = score
      entering[#entering + 1] = member
      if group then group[#group + 1] = member end
      count(ended, read('>I4', claim, 25), 1)
      applied = applied + 1
      answers[#answers + 1] = 'a'
    else
      answers[#answers + 1] = call('EXISTS', root .. 't' .. id) == 1 and 'm' or 'u'
    end
  end
  return applied
end

local at = 3
while at <= #ARGV do
  local queue, priority, to = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local many = tonumber(ARGV[at + 4])
  local first = at + 7
  local place = is_waiting(to) and root .. 'w' .. queue .. ':' .. priority or
                root .. 'e' .. to .. ':' .. queue
  enters[place] = enters[place] or {}
  local group = ARGV[at + 5] ~= '' and group_at(ARGV[at + 5], ARGV[at + 6]) or nil
  local ids = {}
  for next = 1, many do
    ids[next] = ARGV[first + next - 1]:sub(9, 24)
  end
  local applied = settle(first, call('HMGET', root .. 'R', unpack(ids)), ARGV[at + 3], enters[place],
                         group)
  if applied > 0 then
    count(counts, queue .. ':' .. RUNNING, -applied)
    count(counts, queue .. ':' .. to, applied)
    count(freed, queue, applied)
    if is_waiting(to) then
      count(woken, queue, applied)
      call('ZADD', root .. 'p' .. queue, -tonumber(priority), priority)
    end
  end
  at = first + many
end
carry_out_changes()
return keep_told(table.concat(answers))
