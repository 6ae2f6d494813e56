-- What both ways to change tasks share: what is to be done is gathered, and carried out at the end with few
-- commands.
local leaves, enters = {}, {}  -- by sorted set: members; scores and members
local attempts, done = {}, {}  -- keys and values; ids of what runs no more
local counts, ended = {}, {}   -- by queue and state; by owner
local woken, freed = {}, {}    -- by queue
local groups = {}

-- Those that come to one group go there together. `which`: 1 state, 8 fingerprint; `score` and `changed8`
-- are the same time.
local function gather_group(which, example, score, member, changed8)
  local when = tonumber(score)
  local group = groups[which]
  if not group then
    group = { example = example, first8 = changed8, last8 = changed8, latest = when }
    groups[which] = group
    groups[#groups + 1] = which
  elseif when > group.latest then
    group.latest, group.last8 = when, changed8
  end
  group[#group + 1] = score
  group[#group + 1] = member
end

local function carry_out_changes()
  in_slices('HDEL', root .. 'R', done)
  for place, members in pairs(leaves) do
    in_slices('ZREM', place, members)
  end
  for place, members in pairs(enters) do
    in_slices('ZADD', place, members)
  end
  for at = 1, #attempts, 1000 do
    call('MSET', unpack(attempts, at, math.min(at + 999, #attempts)))
  end
  for _, which in ipairs(groups) do
    local members = groups[which]
    enter_group(group_of(which:byte(1), which:sub(2)), members, members.first8, members.last8,
                members.example)
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
