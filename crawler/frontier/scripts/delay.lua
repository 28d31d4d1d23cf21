-- DELAY: what one source asks for. ARGV 5 scope  6 source, without blanks  7 ms, 0 = nothing (any more)
-- Returns the scope's own delay: the longest of all sources; a source that goes takes only its own word back.
local scope, all, kept = ARGV[5], P .. 'delays', {}
for source, ms in string.gmatch(call('HGET', all, scope) or '', '(%S+) (%d+)\n') do
  if source ~= ARGV[6] then kept[#kept + 1] = {source, num(ms)} end
end
if num(ARGV[7]) > 0 then kept[#kept + 1] = {ARGV[6], num(ARGV[7])} end
table.sort(kept, function(a, b) return a[2] > b[2] end)
local lines = {}
for i = 1, math.min(#kept, 64) do lines[i] = kept[i][1] .. ' ' .. integer(kept[i][2]) .. '\n' end  -- a domain may have any number of hosts
if #lines == 0 then
  call('HDEL', all, scope)
  call('HDEL', OWN, scope)
  return 0
end
call('HSET', all, scope, table.concat(lines))
hset(OWN, scope, kept[1][2])
return kept[1][2]
