-- Compares the counters with how many stand in each line. With "repair", counts anew from the records,
-- which takes as long as it takes.
-- Arguments: "repair" or nothing.
-- Returns accepted, a list of seven removed, a list of seven present, and a text for each finding.
local repair = ARGV[1] == 'repair'
local findings = {}

local function differ(what, told, right)
  if told == right then return end
  findings[#findings + 1] = string.format('%s: %d are counted, and %d are there', what, told, right)
end

local function recount()
  local states, owners = {}, {}
  for _, bucket in ipairs(call('ZRANGE', root .. 'N', 0, -1)) do
    local ids = call('GET', root .. 'n' .. bucket) or ''
    for at = 1, #ids, SLOT do
      local head = head_of(ids:sub(at + 1, at + SLOT - 1))
      if head ~= '' then
        count(states, queue_of(head) .. ':' .. head:byte(1), 1)
        if head:byte(1) == RUNNING then count(owners, read('>I4', head, 76), 1) end
      end
    end
  end
  for _, queue in ipairs(call('HVALS', root .. 'q')) do
    for state = PENDING, CANCELED do
      call('HSET', root .. 'c' .. queue, state, states[queue .. ':' .. state] or 0)
    end
  end
  for _, owner in ipairs(call('HKEYS', root .. 'l')) do
    call('HSET', root .. 'l', owner, owners[tonumber(owner)] or 0)
  end
  for _, queue in ipairs(call('HVALS', root .. 'q')) do
    forget_queue_if_empty(queue)
  end
end

local function compare()
  local running = 0
  local queues = call('HGETALL', root .. 'q')
  for at = 1, #queues, 2 do
    local name, queue = queues[at], queues[at + 1]
    local told = call('HMGET', root .. 'c' .. queue, 0, 1, 2, 3, 4, 5, 6)
    for state = 1, 7 do
      told[state] = tonumber(told[state] or 0)
    end
    local waiting = 0
    for _, priority in ipairs(call('ZRANGE', root .. 'p' .. queue, 0, -1)) do
      waiting = waiting + call('ZCARD', root .. 'w' .. queue .. ':' .. priority)
    end
    differ('of queue "' .. name .. '", tasks that wait', told[1] + told[3], waiting)
    for state = SUCCEEDED, CANCELED do
      differ('of queue "' .. name .. '", tasks that have ended as ' .. state, told[state + 1],
             call('ZCARD', root .. 'e' .. state .. ':' .. queue))
    end
    running = running + told[2]
  end
  differ('tasks that run', running, call('ZCARD', root .. 'r'))
end

compare()
if repair and #findings > 0 then recount() end

local present, removed, sum = {}, {}, 0
for state = 1, 7 do
  present[state] = 0
  removed[state] = tonumber(call('HGET', root .. 'm', 'removed' .. (state - 1)) or 0)
  sum = sum + removed[state]
end
for _, queue in ipairs(call('HVALS', root .. 'q')) do
  local told = call('HMGET', root .. 'c' .. queue, 0, 1, 2, 3, 4, 5, 6)
  for state = 1, 7 do
    present[state] = present[state] + tonumber(told[state] or 0)
    sum = sum + tonumber(told[state] or 0)
  end
end
local accepted = tonumber(call('HGET', root .. 'm', 'accepted') or 0)
if accepted ~= sum then
  findings[#findings + 1] = string.format(
      '%d tasks were accepted, but %d are there or were removed', accepted, sum)
  if repair then
    call('HSET', root .. 'm', 'accepted', sum)
    accepted = sum
  end
end
local answer = { accepted, removed, present }
for _, finding in ipairs(findings) do
  answer[#answer + 1] = finding
end
return answer
