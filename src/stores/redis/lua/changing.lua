-- What both ways to change tasks share: what is to be done is gathered, and carried out at the end with few
-- commands.
local leaves, enters = {}, {}  -- by sorted set: members; scores and members
local attempts, done = {}, {}  -- keys and values; ids of what runs no more
local counts, ended = {}, {}   -- by queue and state; by owner
local woken, freed = {}, {}    -- by queue
local groups = {}
local answers = {}
local staying = {}             -- by queue, what is to be claimed again

-- Those that come to one group go there together. `which`: 1 state, 8 fingerprint; `score` and `changed8`
-- are the same time; `came_by` and `part`, as they are counted.
local function gather_group(which, example, score, member, changed8, came_by, part)
  local when = tonumber(score)
  local group = groups[which]
  if not group then
    group = { example = example, first8 = changed8, last8 = changed8, latest = when, counted = {} }
    groups[which] = group
    groups[#groups + 1] = which
  elseif when > group.latest then
    group.latest, group.last8 = when, changed8
  end
  group[#group + 1] = score
  group[#group + 1] = member
  count(group.counted, 'by' .. came_by, 1)
  count(group.counted, 'p' .. part, 1)
  count(group.counted, slot_of(when), 1)
end

-- Puts what was gathered for a group there.
local function enter_gathered(which)
  local members = groups[which]
  if not members then return end
  groups[which] = nil
  enter_group(group_of(which:byte(1), which:sub(2)), members, members.first8, members.last8,
              members.example, members.counted)
end

-- A task that is to be claimed again: `score`, where it would wait; `member`; `begins`, 8 its next token and 8
-- since when; `tail`, 8 the end of its lease and 4 its owner; `beginning` of its record, and its `attempts`.
local function gather_again(queue, task)
  answers[#answers + 1] = 'a'
  task.place = #answers
  append(staying, queue, task)
end

-- An answer that was lost on the way and is given again. What was claimed again may have been brought back by
-- others meanwhile: then it has moved on. `claimed_again(n)`: id and token of the nth change.
local function still_true(before, claimed_again)
  return (before:gsub('()c', function(place)
    local id, token = claimed_again(place)
    local claim = call('HGET', root .. 'R', id)
    return claim and sub(claim, 1, 8) == token and 'c' or 'm'
  end))
end

-- How many more may run, when all that was gathered is carried out.
local function room_of(queue)
  local settings = call('HMGET', root .. 'c' .. queue, 'paused', 'concurrency', RUNNING)
  if settings[1] == '1' then return 0 end
  local concurrency = tonumber(settings[2] or 0)
  if concurrency == 0 then return math.huge end
  return math.max(concurrency - (settings[3] or 0) - (counts[queue .. ':' .. RUNNING] or 0), 0)
end

-- Where there is no room for it, it waits like any other.
local function put_to_wait(queue, task)
  local id = task.member:sub(9)
  local place = root .. 't' .. id
  local priority = call('GETRANGE', place, 99, 99):byte()
  call('SETRANGE', place, 0, task.beginning)
  attempts[#attempts + 1] = root .. 'a' .. id
  attempts[#attempts + 1] = task.attempts
  append(leaves, root .. 'r', task.member)
  append(enters, root .. 'w' .. queue .. ':' .. priority, task.score)
  append(enters, root .. 'w' .. queue .. ':' .. priority, task.member)
  call('ZADD', root .. 'p' .. queue, -priority, priority)
  done[#done + 1] = id
  count(ended, read('>I4', task.tail, 9), 1)
  count(counts, queue .. ':' .. RETRYING, 1)
  count(freed, queue, 1)
  count(woken, queue, 1)
end

local function claim_again()
  for queue, tasks in pairs(staying) do
    count(counts, queue .. ':' .. RUNNING, -#tasks)
    local stay = math.min(room_of(queue), #tasks)
    local claims = {}
    for at, task in ipairs(tasks) do
      if at <= stay then
        answers[task.place] = 'c'
        claims[#claims + 1] = task.member:sub(9)
        claims[#claims + 1] = task.begins .. task.tail .. task.beginning .. task.attempts
      else
        put_to_wait(queue, task)
      end
    end
    in_slices('HSET', root .. 'R', claims)
    count(counts, queue .. ':' .. RUNNING, stay)
  end
end

local function carry_out_changes()
  claim_again()
  in_slices('HDEL', root .. 'R', done)
  for place, members in pairs(leaves) do
    in_slices('ZREM', place, members)
  end
  for place, members in pairs(enters) do
    in_slices('ZADD', place, members)
  end
  in_slices('MSET', nil, attempts)
  for _, which in ipairs(groups) do
    enter_gathered(which)
  end
  for place, by in pairs(counts) do
    if by ~= 0 then
      local colon = place:find(':', 1, true)
      call('HINCRBY', root .. 'c' .. place:sub(1, colon - 1), place:sub(colon + 1), by)
    end
  end
  for owner, many in pairs(ended) do
    call('HINCRBY', root .. 'l', owner, -many)
  end
  -- Where as many run as may, those who wait were told nothing before: a place is free now.
  for queue, many in pairs(freed) do
    local concurrency = call('HGET', root .. 'c' .. queue, 'concurrency')
    if concurrency and concurrency ~= '0' then count(woken, queue, many) end
  end
  for queue, many in pairs(woken) do
    local name = call('HGET', root .. 'Q', queue)
    if name then wake(name, many) end
  end
end
