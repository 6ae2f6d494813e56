-- Finds running tasks whose lease has ended, or whose owner is gone; and tells those who wait for a queue
-- that has something due which nobody has come for.
-- Arguments: time (or empty), the only owner that can be alive (or empty), how many, how long an owner must
--   be away before it is gone, and whether the caller has been here long enough to tell ("1").
-- Returns the time, and for each task its id and four texts: see telling.lua.
local now = time_now(ARGV[1])
local sole_owner = ARGV[2]
local many = tonumber(ARGV[3])
local answer = { i8(now) }
local told = {}

local function tell(member)
  local id = member:sub(9)
  if told[id] or many == 0 then return end
  told[id] = true
  many = many - 1
  answer[#answer + 1] = id
  tell_record(answer, id, false)
end

for _, member in ipairs(call('ZRANGEBYSCORE', root .. 'r', '-inf', '(' .. exact(now),
                             'LIMIT', 0, many)) do
  tell(member)
end

-- An owner is alive as long as its process listens (N8). Those whose claims end with their leases alone,
-- whoever listens, are named so. Whoever looks sees who is back; since when one is away must not be older
-- than the last time that anybody has seen it listen.
local gone, has_gone = {}, false
local function look_for_gone(can_tell)
  local runs = call('HGETALL', root .. 'l')
  local numbers, channels = {}, {}
  for at = 1, #runs, 2 do
    local owner = call('HGET', root .. 'O', runs[at])
    if owner and owner:sub(17, 21) ~= 'away:' then
      numbers[#numbers + 1] = { runs[at], tonumber(runs[at + 1]), owner }
      channels[#channels + 1] = root .. 'i' .. owner:sub(1, 16)
    elseif tonumber(runs[at + 1]) <= 0 then
      numbers[#numbers + 1] = { runs[at], 0, owner or '' }
      channels[#channels + 1] = root .. 'i'
    end
  end
  local listening = {}
  for at = 1, #channels, 1000 do
    local told_of = call('PUBSUB', 'NUMSUB', unpack(channels, at, math.min(at + 999, #channels)))
    for each = 2, #told_of, 2 do
      listening[#listening + 1] = told_of[each]
    end
  end
  for at, owner in ipairs(numbers) do
    local number, running, name = owner[1], owner[2], owner[3]
    if listening[at] > 0 then
      call('HDEL', root .. 'b', number)
    elseif can_tell and running <= 0 then
      call('HDEL', root .. 'l', number)
      call('HDEL', root .. 'b', number)
      call('HDEL', root .. 'O', number)
      call('HDEL', root .. 'o', name:sub(17))
    elseif can_tell then
      local since = call('HGET', root .. 'b', number)
      if not since then
        call('HSET', root .. 'b', number, now)
      elseif now - since >= tonumber(ARGV[4]) then
        gone[tonumber(number)] = true
        has_gone = true
      end
    end
  end
end

if sole_owner ~= '' then
  for _, member in ipairs(call('ZRANGE', root .. 'r', 0, -1)) do
    local claim = call('HGET', root .. 'R', member:sub(9))
    local owner = claim and call('HGET', root .. 'O', read('>I4', claim, 25)) or ''
    owner = owner:sub(17)
    if owner ~= sole_owner and owner:sub(1, 5) ~= 'away:' then tell(member) end
  end
else
  look_for_gone(ARGV[5] == '1')
  if has_gone then
    for _, member in ipairs(call('ZRANGE', root .. 'r', 0, -1)) do
      local claim = call('HGET', root .. 'R', member:sub(9))
      if claim and gone[read('>I4', claim, 25)] then tell(member) end
    end
  end
end

-- A task that came due while whoever knew of it was busy, or gone.
for _, name in ipairs(call('SMEMBERS', root .. 'S')) do
  local queue = queue_number(name)
  local due = 0
  if queue then
    local settings = call('HMGET', root .. 'c' .. queue, 'paused', 'concurrency', RUNNING)
    local concurrency = tonumber(settings[2] or 0)
    local room = concurrency == 0 and 100 or concurrency - tonumber(settings[3] or 0)
    if settings[1] ~= '1' and room > 0 then
      for _, priority in ipairs(call('ZRANGE', root .. 'p' .. queue, 0, -1)) do
        due = due + call('ZCOUNT', root .. 'w' .. queue .. ':' .. priority, '-inf', now)
      end
      due = math.min(due, room)
    end
  end
  if due > 0 then wake(name, due) end
end
return answer
