-- Accepts tasks, each by itself.
-- Arguments: caller, call, how many queues, their names; then for tasks that follow each other and are alike:
--   which of the queues (from 1), flags (1 has a key, 2 delivered by a broker), priority + 100, how many; and four
--   for each task: its id, its due time, and its record up to its number and from its priority on.
-- Returns one text for each: "a" accepted; "e<id>" it exists; "k<id>" its key belongs to another; "i" its
--   id belongs to another; "f<backlog>" its queue is full.
local before = told_before()
if before then return before end

local function texts_of(record)
  local length = read('>I4', record, 114)
  local kind = record:sub(118, 117 + length)
  local key_length = read('>I4', record, 118 + length)
  local key = record:sub(122 + length, 121 + length + key_length)
  return kind, key
end

local function payload_of(record) return record:sub(read('>I4', record, 110) + 1) end

-- Whether the task `id` is what is handed in as `record`, for that queue.
local function is_same(id, record, queue, with_key)
  local earlier = call('GET', root .. 't' .. id)
  if not earlier or queue_of(earlier) ~= queue then return false end
  local kind, key = texts_of(record)
  local earlier_kind, earlier_key = texts_of(earlier)
  if kind ~= earlier_kind or (with_key and key ~= earlier_key) then return false end
  return payload_of(record) == payload_of(earlier)
end

local many = tonumber(ARGV[3])
local queues = {}
for at = 1, many do
  local name = ARGV[3 + at]
  local queue = { name = name, number = queue_number(name), added = 0, waiting = 0, backlog = 0 }
  queue.number4 = pack('>I4', queue.number or 0)
  if queue.number then
    local counts = call('HMGET', root .. 'c' .. queue.number, PENDING, RETRYING, 'backlog')
    queue.waiting = (counts[1] or 0) + (counts[2] or 0)
    queue.backlog = tonumber(counts[3] or 0)
  end
  queues[at] = queue
end

local number = tonumber(call('HGET', root .. 'm', 'number') or 0)
local first = number + 1
local waits, ids, answers = {}, {}, {}
local accepted, answered = 0, 0
local are_new, records = false, {}
local task_key = root .. 't'

-- Tasks that are alike, to whom `queue` and its line in the order of claims are the same.
local function company_of(queue, flags, priority)
  return { queue = queue, has_key = flags % 2 == 1, delivered = flags >= 2, priority = priority }
end

-- The list of what waits in its line.
local function line_of(company)
  local key = company.queue.number .. ':' .. company.priority
  if not waits[key] then
    waits[key] = {}
    call('ZADD', root .. 'p' .. company.queue.number, -company.priority, company.priority)
  end
  return waits[key]
end

-- `before` and `after`: of its record, what stands before and after its number and queue.
local function accept(company, place, id, due, before, after)
  local queue = company.queue
  -- As it will be; the number is that of the next one, which it may not get.
  local number8 = i8(number + 1)
  local record = before .. number8 .. queue.number4 .. after
  local key
  if company.has_key then
    local _
    _, key = texts_of(record)
    local earlier = call('GET', root .. 'k' .. key)
    if earlier then
      return (is_same(earlier, record, queue.number, false) and 'e' or 'k') .. earlier
    end
  end
  local is_full = queue.backlog > 0 and queue.waiting >= queue.backlog
  if is_full and not company.delivered and call('EXISTS', place) == 0 then return 'f' .. queue.backlog end
  if not queue.number then
    if call('EXISTS', place) == 1 then return 'i' end
    queue.number = make_queue(queue.name)
    queue.number4 = pack('>I4', queue.number)
    record = before .. number8 .. queue.number4 .. after
  end
  if are_new then
    records[2 * accepted + 1], records[2 * accepted + 2] = place, record
  elseif not call('SET', place, record, 'NX') then
    return is_same(id, record, queue.number, true) and 'e' .. id or 'i'
  end
  if key then call('SET', root .. 'k' .. key, id) end
  number = number + 1
  queue.waiting = queue.waiting + 1
  queue.added = queue.added + 1
  accepted = accepted + 1
  ids[accepted] = id
  local line = company.line
  if not line then
    line = line_of(company)
    company.line, company.length = line, #line
  end
  line[company.length + 1] = due
  line[company.length + 2] = number8 .. id
  company.length = company.length + 2
  return 'a'
end

local at = 4 + many
local companies, places, seen, is_plain = {}, {}, {}, true
while at <= #ARGV do
  local company = company_of(queues[tonumber(ARGV[at])], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]))
  company.first, company.last = at + 4, at + 4 * tonumber(ARGV[at + 3])
  companies[#companies + 1] = company
  is_plain = is_plain and not company.has_key
  for its = company.first, company.last, 4 do
    local id = ARGV[its]
    is_plain = is_plain and not seen[id]
    seen[id] = true
    answered = answered + 1
    places[answered] = task_key .. id
  end
  at = company.last + 4
end

-- Mostly none of them is there already: then they are written together.
are_new = is_plain
for first_place = 1, are_new and #places or 0, 1000 do
  are_new = are_new and
            call('EXISTS', unpack(places, first_place, math.min(first_place + 999, #places))) == 0
end

answered = 0
for _, company in ipairs(companies) do
  for its = company.first, company.last, 4 do
    answered = answered + 1
    answers[answered] = accept(company, places[answered], ARGV[its], ARGV[its + 1], ARGV[its + 2], ARGV[its + 3])
  end
end
in_slices('MSET', nil, records)
if #ids == 0 then return keep_told(answers) end

for line, list in pairs(waits) do
  in_slices('ZADD', root .. 'w' .. line, list)
end
at = 1
while at <= #ids do
  local place = first + at - 2
  local bucket = math.floor(place / 256)
  local slot = place % 256
  local last = math.min(#ids, at + 255 - slot)
  call('SETRANGE', root .. 'n' .. bucket, slot * SLOT, '\1' .. table.concat(ids, '\1', at, last))
  call('ZADD', root .. 'N', bucket, bucket)
  at = last + 1
end
call('HSET', root .. 'm', 'number', number)
call('HINCRBY', root .. 'm', 'accepted', #ids)
for _, queue in ipairs(queues) do
  if queue.added > 0 then
    call('HINCRBY', root .. 'c' .. queue.number, PENDING, queue.added)
    wake(queue.name, queue.added)
  end
end
return keep_told(answers)
