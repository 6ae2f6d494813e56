-- The same as change.lua for tasks that the caller has claimed and knows all of: it has worked out what they
-- will be, and they are written so if the claim still holds. This is where most of the work is done, and each
-- text that Lua makes costs time: no more of them than needed.
-- Arguments: caller, call; then for tasks that go the same way: queue, priority + 100, state they go to, how
--   many; if that is a group's, its 9 bytes (see gather_group) and an example, else two empty ones; and five
--   for each task, no task twice: its score there; number and id; token; the 79 bytes that its record will
--   begin with; all its attempts.
-- Returns a text with one letter for each: "a" applied, "m" it has moved on, "u" there is no such task.
local before = told_before()
if before then return before end

local answers = {}
local running = root .. 'r'
local left = {}
leaves[running] = left

local WORDS = 5

-- `claims`: what R has of the tasks with these ids, which are told of from ARGV[first] on.
local function settle(first, ids, claims, entering, group, example)
  local applied = 0
  for at, claim in ipairs(claims) do
    local its = first + WORDS * (at - 1)
    local score, member = ARGV[its], ARGV[its + 1]
    local id = ids[at]
    if claim and claim:sub(1, 8) == ARGV[its + 2] then
      local head = ARGV[its + 3]
      call('SETRANGE', root .. 't' .. id, 0, head)
      attempts[#attempts + 1] = root .. 'a' .. id
      attempts[#attempts + 1] = ARGV[its + 4]
      left[#left + 1] = member
      done[#done + 1] = id
      entering[#entering + 1] = score
      entering[#entering + 1] = member
      if group ~= '' then gather_group(group, example, score, member, head:sub(36, 43)) end
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
  local many = tonumber(ARGV[at + 3])
  local first = at + 6
  local place = is_waiting(to) and root .. 'w' .. queue .. ':' .. priority or
                root .. 'e' .. to .. ':' .. queue
  enters[place] = enters[place] or {}
  local ids = {}
  for next = 1, many do
    ids[next] = ARGV[first + WORDS * (next - 1) + 1]:sub(9)
  end
  local applied = settle(first, ids, call('HMGET', root .. 'R', unpack(ids)), enters[place],
                         ARGV[at + 4], ARGV[at + 5])
  if applied > 0 then
    count(counts, queue .. ':' .. RUNNING, -applied)
    count(counts, queue .. ':' .. to, applied)
    count(freed, queue, applied)
    if is_waiting(to) then
      count(woken, queue, applied)
      call('ZADD', root .. 'p' .. queue, -tonumber(priority), priority)
    end
  end
  at = first + WORDS * many
end
carry_out_changes()
return keep_told(table.concat(answers))
