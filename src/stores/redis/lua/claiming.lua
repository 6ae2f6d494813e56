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

-- The claim of a record that waits. `rest`: since when, the end of the lease and the owner.
local function claim_of(record, rest) return i8(read('>i8', record, 20) + 1) .. rest end

local function attempts_for_claim(id, record)
  if record:byte(2) < 8 then return '' end
  return call('GET', root .. 'a' .. id) or ''
end

-- As it waited, of one that was claimed by a call whose answer was lost; nothing if it was lost meanwhile.
local function still_claimed(id, owner4)
  local claim = call('HGET', root .. 'R', id)
  return claim and claim:sub(25, 28) == owner4 and call('GET', root .. 't' .. id)
end
