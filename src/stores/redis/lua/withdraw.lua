-- Takes back tasks that were never claimed and that no broker has.
-- Arguments: caller, call, and the ids.
-- Returns a text with 1 (withdrawn) or 0 for each.
local before = told_before()
if before then return before end

local answers, seen = {}, {}
for at = 3, #ARGV do
  local id = ARGV[at]
  local head = not seen[id] and head_of(id) or ''
  seen[id] = true
  local can = head ~= '' and head:byte(1) == PENDING and read('>i8', head, 20) == 0 and
              bit.band(head:byte(2), 4) == 0
  if can then remove(id, head) end
  answers[#answers + 1] = can and '1' or '0'
end
finish_removing()
return keep_told(table.concat(answers))
