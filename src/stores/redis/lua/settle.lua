-- The same as change.lua for tasks that the caller has claimed and knows all of: it has worked out what they
-- will be, and they are written so if the claim still holds. This is where most of the work is done, and each
-- text that Lua makes costs time: no more of them than needed.
-- Arguments: caller, call; then for tasks that go the same way: queue, priority + 100, state they go to, how
--   many; if that is a group's, which and what is counted of them there (1 state, 8 fingerprint; 1 how they come
--   to it; 4 queue and their type) and an example, else two empty ones; and five for each task, no task twice: its score there; number and id; token; the 79 bytes that its record will
--   begin with; all its attempts. Last, queue by queue, those that are to be claimed again: "again" is the
--   state they go to, their priority is empty, and behind the token of each stand its next one and since when.
-- Returns a text with one letter for each: "a" applied, "c" applied and claimed again, "m" it has moved on,
--   "u" there is no such task.
local WORDS = 5

local before = told_before()
if before then
  local at, places = 3, {}  -- where each of them stands in ARGV
  while at <= #ARGV do
    local many = tonumber(ARGV[at + 3])
    for next = 0, many - 1 do
      places[#places + 1] = at + 6 + WORDS * next
    end
    at = at + 6 + WORDS * many
  end
  return still_true(before, function(place)
    return sub(ARGV[places[place] + 1], 9), sub(ARGV[places[place] + 2], 9, 16)
  end)
end

local left = {}
leaves[root .. 'r'] = left
local task_key, attempts_key = root .. 't', root .. 'a'

local function refused(id) return call('EXISTS', root .. 't' .. id) == 1 and 'm' or 'u' end

-- `claims`: what R has of the tasks with these ids, which are told of from ARGV[first] on. `company`: what is
-- written of those that go with them.
local function settle(first, ids, claims, company)
  local applied, owner4, of_owner = 0, nil, 0
  local entering = company.entering
  local settled, answered, written = #left, #answers, #attempts
  local its = first
  for at, claim in ipairs(claims) do
    local id = ids[at]
    answered = answered + 1
    if claim and sub(claim, 1, 8) == ARGV[its + 2] then
      local score, member = ARGV[its], ARGV[its + 1]
      call('SETRANGE', task_key .. id, 0, ARGV[its + 3])
      attempts[written + 1] = attempts_key .. id
      attempts[written + 2] = ARGV[its + 4]
      written = written + 2
      settled = settled + 1
      left[settled] = member
      done[settled] = id
      entering[2 * applied + 1] = score
      entering[2 * applied + 2] = member
      applied = applied + 1
      if score ~= company.score then
        company.score = score
        local when = tonumber(score)
        if not company.latest or when > company.latest then
          company.latest, company.latest_at = when, its
        end
        company.first_at = company.first_at or its
      end
      local its_owner = sub(claim, 25, CLAIM)
      if its_owner ~= owner4 then
        if owner4 then count(ended, read('>I4', owner4), of_owner) end
        owner4, of_owner = its_owner, 0
      end
      of_owner = of_owner + 1
      answers[answered] = 'a'
    else
      answers[answered] = refused(id)
    end
    its = its + WORDS
  end
  if owner4 then count(ended, read('>I4', owner4), of_owner) end
  return applied
end

local function settle_again(first, ids, claims, queue)
  -- Mostly nothing limits the queue, and then they need not be looked at together.
  local is_free = room_of(queue) == math.huge
  local again, many, answered = {}, 0, #answers
  local its = first
  for at, claim in ipairs(claims) do
    local id, token = ids[at], ARGV[its + 2]
    answered = answered + 1
    if not claim or sub(claim, 1, 8) ~= sub(token, 1, 8) then
      answers[answered] = refused(id)
    elseif is_free then
      again[many + 1] = id
      again[many + 2] = sub(token, 9) .. sub(claim, 17, CLAIM) .. ARGV[its + 3] .. ARGV[its + 4]
      many = many + 2
      answers[answered] = 'c'
    else
      gather_again(queue, { score = ARGV[its], member = ARGV[its + 1], begins = sub(token, 9),
                            tail = sub(claim, 17, CLAIM), beginning = ARGV[its + 3],
                            attempts = ARGV[its + 4] })
    end
    its = its + WORDS
  end
  in_slices('HSET', root .. 'R', again)
end

-- Of those that go to a group.
local function counted_of(which, entering, many)
  local counted = { ['by' .. byte(which, 10)] = many, ['p' .. sub(which, 11)] = many }
  for at = 1, 2 * many, 2 do
    count(counted, slot_of(tonumber(entering[at])), 1)
  end
  return counted
end

local at = 3
while at <= #ARGV do
  local queue, priority, to = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local many = tonumber(ARGV[at + 3])
  local first = at + 6
  local ids = {}
  for next = 1, many do
    ids[next] = sub(ARGV[first + WORDS * (next - 1) + 1], 9)
  end
  local claims = call('HMGET', root .. 'R', unpack(ids))
  if not to then
    settle_again(first, ids, claims, queue)
  else
    local place = is_waiting(to) and root .. 'w' .. queue .. ':' .. priority or
                  root .. 'e' .. to .. ':' .. queue
    local company = { entering = {} }
    local applied = settle(first, ids, claims, company)
    if applied > 0 then
      in_slices('ZADD', place, company.entering)
      if ARGV[at + 4] ~= '' then
        local function changed8(its) return ARGV[its + 3]:sub(36, 43) end
        local which = ARGV[at + 4]
        enter_group(group_of(byte(which), sub(which, 2, 9)), company.entering,
                    changed8(company.first_at), changed8(company.latest_at), ARGV[at + 5],
                    counted_of(which, company.entering, applied))
      end
      count(counts, queue .. ':' .. RUNNING, -applied)
      count(counts, queue .. ':' .. to, applied)
      count(freed, queue, applied)
      if is_waiting(to) then
        count(woken, queue, applied)
        call('ZADD', root .. 'p' .. queue, -tonumber(priority), priority)
      end
    end
  end
  at = first + WORDS * many
end
carry_out_changes()
return keep_told(table.concat(answers))
