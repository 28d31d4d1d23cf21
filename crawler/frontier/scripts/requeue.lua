-- REQUEUE: bring URLs back into their queues. ARGV 5 what: due (held, its time has come) | held | later | dead |
-- leased (all workers are gone) | parked  6 at most n  7 cursor  8 scope or ''  9 part of the latest reason or ''
-- 10 1 = of the dead those of hosts that fail now (breaker) or never answered
-- Returns how many, and the cursor to go on with ('0' = through). A dead URL starts again with all its tries; one of a
-- purged scope stays dead, because its queue would not take it.
local what, n, cursor, only, part, outage = ARGV[5], num(ARGV[6]), ARGV[7], ARGV[8], ARGV[9], ARGV[10] == '1'
local moved = 0
local function wanted(scope, why)
  if only ~= '' and scope ~= only then return false end
  if part == '' then return true end
  local latest = string.match(why or '', '([^\n]*)$')
  return string.find(string.lower(latest), string.lower(part), 1, true) ~= nil
end
local function is_down(scope) return call('HEXISTS', BREAKER, scope) == 1 or call('HEXISTS', P .. 'done', scope) == 0 end
local function revive(key, why)
  local scope, rest = string.match(key, '^([^\t]*)\t(.*)$')
  if outage and not is_down(scope) then return end
  if not wanted(scope, why) or call('SISMEMBER', PURGED, scope) == 1 then return end
  if call('HDEL', DEAD, key) == 0 then return end  -- a scan may answer an entry twice
  count('queued', 1)
  tally('failed', scope, -1)
  push(scope, call('HINCRBY', ST, 'sequence', 1), rest)
  moved = moved + 1
end
local function bring_back(key, entry)
  local scope, _, member = string.match(entry, '^([^\t]*)\t([^\t]*)\t(.*)$')
  if only ~= '' and scope ~= only then return end
  local _, _, rest = split(member)
  if part ~= '' and not wanted(scope, call('HGET', WHY, scope .. '\t' .. rest)) then return end
  if not call('ZSCORE', key, entry) then return end
  unpark(key, {entry})
  moved = moved + 1
end
-- A parked scope gets another chance: its shapes count from nothing again, and its URLs wait in the overflow.
local function reopen(scope, most)
  if call('SISMEMBER', PURGED, scope) == 1 then return 0 end
  local rows = call('HGETALL', table_of(scope))
  for at = 1, #rows, 2 do
    if rows[at] == WHOLE then
      local sums = sums_of(rows[at + 1])
      sums[2] = 0
      call('HSET', table_of(scope), WHOLE, struct.pack(SUMS, unpack(sums)))
    else
      local row = row_of(rows[at + 1])
      row.ended, row.longest, row.streak, row.parked = 0, 0, 0, 0
      call('HSET', table_of(scope), rows[at], packed(row))
    end
  end
  local entries = call('LPOP', parked_of(scope), most) or {}
  for k, member in ipairs(entries) do entries[k] = 'v ' .. member end
  if call('HINCRBY', BARREN, scope, -#entries) <= 0 then call('HDEL', BARREN, scope) end
  if #entries == 0 then return 0 end
  call('RPUSH', overflow(scope), unpack(entries))
  count('queued', #entries)
  count('barren', -#entries)
  local s = state(scope)
  s.spilled = s.spilled + #entries
  if call('EXISTS', queue(scope)) == 0 then s.spilled = refill(scope, s.spilled) end
  return #entries
end
if what == 'dead' then
  local page = call('HSCAN', DEAD, cursor, 'COUNT', n)
  cursor = page[1]
  for i = 1, #page[2], 2 do revive(page[2][i], page[2][i + 1]) end
elseif what == 'leased' then
  local tokens = call('ZRANGE', LEASES, 0, n - 1)
  reclaim(tokens)
  moved, cursor = #tokens, #tokens < n and '0' or '1'
elseif what == 'parked' then
  local names = only ~= '' and {only} or {}
  if only == '' then
    for at, item in ipairs(call('HSCAN', BARREN, '0', 'COUNT', 16)[2]) do
      if at % 2 == 1 then names[#names + 1] = item end
    end
  end
  cursor = '0'
  for _, scope in ipairs(names) do
    if moved < n then moved = moved + reopen(scope, n - moved) end
  end
  if only == '' and call('EXISTS', BARREN) == 1 or only ~= '' and call('HEXISTS', BARREN, only) == 1 then cursor = '1' end
elseif what == 'due' then
  local entries = call('ZRANGEBYSCORE', HELD, '-inf', now, 'LIMIT', 0, n)
  unpark(HELD, entries)
  moved, cursor = #entries, #entries < n and '0' or '1'
else
  local key = what == 'later' and LATER or HELD
  local page = call('ZSCAN', key, cursor, 'COUNT', n)
  cursor = page[1]
  for i = 1, #page[2], 2 do bring_back(key, page[2][i]) end
end
save_tallies()
save()
return {moved, cursor}
