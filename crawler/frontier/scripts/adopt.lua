-- ADOPT: URLs that are finished and still wait: the frontier was lost, or their worker died before it could say so.
-- ARGV 5.. : (scope, member, visit or '', '' = in its queue or alone | later and its entry there)*.
-- Returns how many were still waiting, and count as done now.
local moved = 0
for i = 5, #ARGV, 5 do
  local scope, member, visit, where, entry = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local key = where == '' and queue(scope) or where == 'alone' and ALONE or LATER
  if call('ZREM', key, where == '' and member or entry) == 1 then
    local _, _, rest = split(member)
    moved = moved + 1
    count('queued', -1)
    tally('done', scope, 1)
    call('HDEL', WHY, scope .. '\t' .. rest)
    call('HDEL', SUSPECTS, scope .. '\t' .. rest)
    if visit ~= '' then remember(visit, scope, rest) end
    state(scope)
  end
end
save_tallies()
if moved > 0 then finished(moved, moved) end
save()
return moved
