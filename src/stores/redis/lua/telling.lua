-- How records are told to whoever asks for them, four texts each: the record ("" if there is no such
-- task), its attempts, the name of its queue and that of its owner. In full, or without the payload and
-- with the last attempt that has a failure only.
local function last_failed(all)
  local at, last = 1, ''
  while at <= #all do
    local length = read('>I4', all, at)
    if all:byte(at + 31 + read('>I2', all, at + 29)) % 2 == 1 then
      last = all:sub(at, at + 3 + length)
    end
    at = at + 4 + length
  end
  return last
end

local function tell_record(answer, id, in_full)
  local place = root .. 't' .. id
  local record
  if in_full then
    record = call('GET', place) or ''
  else
    record = call('GETRANGE', place, 0, 255)
    if record ~= '' then
      local texts_end = read('>I4', record, 110)
      if texts_end > 256 then
        record = call('GETRANGE', place, 0, texts_end - 1)
      else
        record = record:sub(1, texts_end)
      end
    end
  end
  local attempts, queue, owner = '', '', ''
  if record ~= '' then
    local claim = call('HGET', root .. 'R', id)
    if claim then record = running_head(record, claim) .. record:sub(HEAD + 1) end
    if attempts_of(record) > 0 then
      attempts = attempts_text(id, claim)
      if not in_full then attempts = last_failed(attempts) end
    end
    queue = call('HGET', root .. 'Q', queue_of(record)) or ''
    if record:byte(1) == RUNNING then
      owner = (call('HGET', root .. 'O', read('>I4', record, 76)) or ''):sub(17)
    end
  end
  local at = #answer
  answer[at + 1], answer[at + 2], answer[at + 3], answer[at + 4] = record, attempts, queue, owner
end
