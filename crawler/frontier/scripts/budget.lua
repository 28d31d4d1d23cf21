-- BUDGET: how many more URLs a worker may be given, by what all workers and runs have spent: of the crawl (in shard 0), or
-- of one scope (in its shard), which is paused while a limit of it is reached.
-- ARGV 5 token of the process, behind what its leases bear and a dot where they bear something  6 life (ms): a worker that is silent for longer is dead  7 URLs in hand  8 wanted  9 run
-- 10 fetched 11 kept 12 bytes 13 money: what this process has spent since it began  14 bytes 15 money that one page may cost
-- 16.. limits of all runs, 21.. of this run: fetched, kept, bytes, ms, money; 0 = none  26 1 = the worker leaves  27 scope or ''
-- A call that runs twice adds nothing the second time: what a process has spent is told as a total.
-- Returns {granted, number of the limit that is reached (1 to 10; 0 = none)}.
local NAMES, ALL_NAMES = {'fetched', 'kept', 'bytes', 'ms', 'money'}, {'fetched', 'kept', 'bytes', 'ms', 'money', 'at', 'page_bytes', 'page_money'}
local token, life, hand, wanted, run, scope = ARGV[5], num(ARGV[6]), num(ARGV[7]), num(ARGV[8]), ARGV[9], ARGV[27]
local OWN_SPENT, OWN_SPENDERS, BEFORE = P .. 'spent', SPENDERS[1], P .. 'spent:before'
local row_of, fields = token, ALL_NAMES
if scope ~= '' then
  OWN_SPENT, OWN_SPENDERS, row_of, fields = P .. 'spent:seeds', SPENDERS[2], token .. '\t' .. scope, {}
  for i, name in ipairs(ALL_NAMES) do fields[i] = scope .. '\t' .. name end
end
local spent, known = {}, call('HMGET', OWN_SPENT, unpack(fields))
for i = 1, 5 do spent[i] = num(known[i] or 0) end
local at, page_bytes, page_money = num(known[6] or now), num(known[7] or 0), num(known[8] or 0)

-- Leases of a process that it has not begun with: nothing was spent on them.
local function unbegun(bearer)
  local n, found = 0, call('ZRANGE', LEASES, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    local nonce = match(found[i], '[^.]*$')
    if not is_begun(found[i + 1]) and sub(nonce, 1, #bearer) == bearer then
      local payload = scope ~= '' and call('HGET', LEASE, found[i])
      if scope == '' or payload and scope_of(payload) == scope then n = n + 1 end
    end
  end
  return n
end

-- Hours pass while somebody is at work; a worker that died took what it had in hand with it: that counts as spent. Of a
-- scope a pause between two pages that is shorter than the life of a worker is work, too.
local others, workers, alive, told = 0, 1, scope ~= '' and now - at <= life, {0, 0, 0, 0}
local rows = call('HGETALL', OWN_SPENDERS)
for i = 1, #rows, 2 do
  if scope == '' or sub(rows[i], -#scope - 1) == '\t' .. scope then
    local count, last, a, b, c, d = match(rows[i + 1], '^(%d+) (%d+) (%S+) (%S+) (%S+) (%S+)$')
    count, last = num(count), num(last)
    alive = alive or now - last <= life
    if rows[i] == row_of then
      told = {num(a), num(b), num(c), num(d)}
    elseif now - last > life then
      local bearer = match(rows[i], '^([^.]+)%.')
      if bearer then count = math.max(0, count - unbegun(bearer)) end
      spent[1], spent[2] = spent[1] + count, spent[2] + count
      spent[3], spent[5] = spent[3] + count * page_bytes, spent[5] + count * page_money
      call('HDEL', OWN_SPENDERS, rows[i])
    else
      others, workers = others + count, workers + 1
    end
  end
end
if alive and now > at then spent[4] = spent[4] + now - at end
local new = {num(ARGV[10]) - told[1], num(ARGV[11]) - told[2], num(ARGV[12]) - told[3], num(ARGV[13]) - told[4]}
for i = 1, 4 do
  local place = i == 4 and 5 or i
  spent[place] = spent[place] + math.max(0, new[i])
end
if new[1] >= 1 then
  page_bytes, page_money = math.max(page_bytes, new[3] / new[1]), math.max(page_money, new[4] / new[1])
end

local granted, reached = wanted, 0
for reach = 0, 1 do
  for i = 1, 5 do
    local limit = num(ARGV[15 + 5 * reach + i])
    if reach == 1 and run ~= '' then
      local own = i ~= 4 and math.max(0, new[i == 5 and 4 or i]) or 0
      call('HSETNX', BEFORE, run .. '\t' .. NAMES[i], string.format('%.17g', spent[i] - own))
    end
    if limit > 0 then
      local before = reach == 1 and num(call('HGET', BEFORE, run .. '\t' .. NAMES[i]) or 0) or 0
      local left = limit - (spent[i] - before)
      if left <= 0 then
        granted = 0
        if reached == 0 then reached = 5 * reach + i end
      elseif i ~= 4 then
        local page = i == 3 and num(ARGV[14]) or i == 5 and num(ARGV[15]) or 1
        local room = page > 0 and math.floor(left / page) - others - hand or wanted
        -- Every worker may have one page under way; all that is under way exceeds what is left by a page a worker at most.
        if room < 1 and hand == 0 and (others + 1 - workers) * page <= left then room = 1 end
        granted = math.max(0, math.min(granted, room))
      end
    end
  end
end

local row = {}
for i = 1, 5 do row[#row + 1], row[#row + 2] = fields[i], string.format('%.17g', spent[i]) end
call('HSET', OWN_SPENT, fields[6], integer(math.max(at, now)), fields[7], string.format('%.17g', page_bytes),
     fields[8], string.format('%.17g', page_money), unpack(row))
if ARGV[26] == '1' then
  call('HDEL', OWN_SPENDERS, row_of)
else
  call('HSET', OWN_SPENDERS, row_of, integer(hand + granted) .. ' ' .. integer(now) .. ' ' .. table.concat({ARGV[10], ARGV[11], ARGV[12], ARGV[13]}, ' '))
end
if scope ~= '' then
  local record, limited = call('HGET', PAUSED, scope), call('HEXISTS', LIMITED, scope) == 1
  if reached > 0 and not record then
    call('HSET', LIMITED, scope, NAMES[reached] .. ':' .. ARGV[15 + reached])
    pause(scope, 'limit of the seed: ' .. NAMES[reached])
    save()
  elseif reached == 0 and limited then
    call('HDEL', LIMITED, scope)
    if record then resume(scope, record) end
    save()
  elseif limited and not record then
    call('HDEL', LIMITED, scope)
  end
end
return {granted, reached}
