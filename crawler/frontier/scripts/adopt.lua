-- ADOPT: URLs that were finished before the frontier was lost. They have just been put, in front of their queues.
-- ARGV 5.. : (scope, member, visit or '')*. Returns how many were still waiting, and count as done now.
local moved = 0
for i = 5, #ARGV, 3 do
  local scope, member, visit = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if call('ZREM', queue(scope), member) == 1 then
    moved = moved + 1
    count('queued', -1)
    tally('done', scope, 1)
    if visit ~= '' then remember(visit, scope, member) end
    state(scope)
  end
end
save_tallies()
if moved > 0 then finished(moved, moved) end
save()
return moved
