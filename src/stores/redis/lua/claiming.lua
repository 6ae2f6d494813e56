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

-- The first bytes of a record that waits, once it runs.
local function running_head(record, now8, lease8, owner4)
  return '\1' .. record:sub(2, 19) .. i8(read('>i8', record, 20) + 1) .. now8 .. now8 ..
         record:sub(44, 67) .. lease8 .. owner4
end

-- What is told of the attempts of a task that is claimed: its last failure is at the beginning.
local function attempts_head(id, record)
  if record:byte(2) % 2 == 0 then return '' end
  return call('GETRANGE', root .. 'a' .. id, 0, 4999)
end

-- As it waited, of one that was claimed by a call whose answer was lost.
local function as_it_waited(id, state, due8, owner4)
  local record = call('GET', root .. 't' .. id)
  if not record or record:byte(1) ~= RUNNING or record:sub(76, 79) ~= owner4 then return nil end
  return string.char(state) .. record:sub(2, 19) .. i8(read('>i8', record, 20) - 1) .. due8 ..
         record:sub(36)
end
