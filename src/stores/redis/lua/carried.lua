-- Notes that a broker has a message for tasks, as they stand with a token.
-- Arguments: for each 16 bytes id, 8 bytes token.
-- Returns of how many it was noted.
local noted = 0
for _, argument in ipairs(ARGV) do
  local place = root .. 't' .. argument:sub(1, 16)
  local head = head_of(argument:sub(1, 16))
  if head ~= '' and (is_waiting(head:byte(1)) or head:byte(1) == DEAD) and
     head:sub(20, 27) == argument:sub(17) then
    call('SETRANGE', place, 1, string.char(bit.bor(head:byte(2), 4)))
    call('SETRANGE', place, 79, argument:sub(17))
    noted = noted + 1
  end
end
return noted
