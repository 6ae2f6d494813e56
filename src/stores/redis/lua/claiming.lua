-- What both ways to claim share.
local function owner_number(owner, instance)
  local number = call('HGET', root .. 'o', owner)
  if not number then
    number = call('HINCRBY', root .. 'm', 'owner', 1)
    call('HSET', root .. 'o', owner, number)
  end
  if call('HGET', root .. 'O', number) ~= instance .. owner then
    call('HSET', root .. 'O', number, instance .. owner)
  end
  return tonumber(number)
end

local function lease_end_of(now, lease)
  local lease_end = now + tonumber(lease)
  if lease_end >= 9007199254740992 then return read('>i8', LATEST), LATEST end
  return lease_end, i8(lease_end)
end

-- The beginning of a record that waits, once it runs. `times`: now twice, as due and as changed; `claim`: the
-- end of the lease and the owner.
local function running_head(record, times, claim)
  return '\1' .. record:sub(2, 19) .. i8(read('>i8', record, 20) + 1) .. times .. record:sub(44, 67) ..
         claim .. record:sub(80, 113)
end

local function attempts_for_claim(id, record)
  if record:byte(2) < 8 then return '' end
  return call('GET', root .. 'a' .. id) or ''
end

-- As it waited, of one that was claimed by a call whose answer was lost; nothing if it was lost meanwhile.
local function still_claimed(id, owner4)
  local head = call('HGET', root .. 'R', id)
  return head and head:sub(76, 79) == owner4 and call('GET', root .. 't' .. id)
end
