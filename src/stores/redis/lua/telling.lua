-- How records are told to whoever asks for them, four texts each: the record ("" if there is no such
-- task), its attempts, the name of its queue and that of its owner. In full, or without the payload and
-- with the beginning of the attempts only.
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
    if record:byte(2) % 2 == 1 then
      attempts = in_full and call('GET', root .. 'a' .. id) or
                 call('GETRANGE', root .. 'a' .. id, 0, 4999)
    end
    queue = call('HGET', root .. 'Q', queue_of(record)) or ''
    if record:byte(1) == RUNNING then
      owner = (call('HGET', root .. 'O', read('>I4', record, 76)) or ''):sub(17)
    end
  end
  local at = #answer
  answer[at + 1], answer[at + 2], answer[at + 3], answer[at + 4] = record, attempts or '', queue, owner
end
