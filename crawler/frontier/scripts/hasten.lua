-- HASTEN: pages that were changed since their last visit are due at once. ARGV 5.. : (url hash, changed at in s)*
-- Returns how many went back into their queues.
local moved = 0
for i = 5, #ARGV, 2 do
  local n = vhome(ARGV[i])
  local entry = call('HGET', vkey(n), ARGV[i])
  if entry then
    local done, visit, scope, rest = open_visit(entry)
    if done and struct.unpack('>I4', visit) < num(ARGV[i + 1]) then
      bring_back(n, ARGV[i], entry, scope, rest)
      moved = moved + 1
    end
  end
end
save_tallies()
save()
return moved
