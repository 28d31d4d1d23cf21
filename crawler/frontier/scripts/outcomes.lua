-- What came of a request goes into the table of its scope; for ack. An outcome is `SSSPPPkdm tokens score QQQQOOOO example` (outcome.py): its
-- shape, its parent's (... = none), k = kept, s = too short, d = duplicate, r = anything else that brought nothing, n =
-- nobody's fault; depth; mark, - = it was no link; tokens kept, weighted by their quality; what a model says, - = nothing; the sources that
-- stand for the page of its link (.... = none) and for itself; its URL.
local COLUMN = {k = 'kept', s = 'short', d = 'duplicate', r = 'other', n = 'other'}
local STEP = 64  -- a value has doubled or halved before its queue is ordered anew
local anew, exploring = {}, {}  -- what is to be done once all of them are written down
local bound, every, weight, scored
local function settings()
  if not bound then
    local found = call('HMGET', ST, 'bound', 'explore', 'weight', 'scored')
    bound, every, weight, scored = num(found[1] or 0), num(found[2] or 0), num(found[3] or 0), num(found[4] or 0)
  end
end
local function later(scope, shape)  -- OTHER: all of the scope
  anew[scope] = anew[scope] or {}
  anew[scope][shape] = true
end
local function reclassed(scope, name, row, usual)
  local class, before = class_of(worth(row, usual)), row.class or class_of(usual)
  if math.abs(class - before) >= STEP then
    row.class = class
    later(scope, name)
  else
    row.class = before
  end
end
local function credit(row, tokens)
  if tokens > 0 or row.led_n == 0 then return tokens end
  return HUB * HUB * row.led / row.led_n * math.min(1, row.led_n / row.fetched)
end
local function learn(scope, text)
  local shape, parent, kind, depth, mark, tokens, score, source, own, url =
    match(text, '^(...)(...)(%l)(%d)(%S) (%S+) (%S+) (....)(....) ()')
  if not shape then return end
  settings()
  local key = table_of(scope)
  local found = call('HMGET', key, WHOLE, shape, parent ~= shape and parent or WHOLE)  -- what is not there costs a walk
  local sums, name, row = sums_of(found[1]), shape, row_of(found[2])
  if row.new and sums[1] >= SHAPES / 2 and call('HLEN', key) > SHAPES then
    name, row = OTHER, row_of(call('HGET', key, OTHER))
  end
  depth, tokens = num(depth), num(tokens)
  local usual = usual_worth(sums, depth, mark)
  row.fetched, row[COLUMN[kind]], row.tokens = row.fetched + 1, row[COLUMN[kind]] + 1, row.tokens + tokens
  if row.fetched == 1 then row.example = sub(text, url, url + 79) end
  if parent ~= shape then row.ended, row.longest = 0, 0 end  -- new ground, opened from elsewhere
  local fruitless = kind ~= 'k' and kind ~= 'n'
  if kind == 'k' then brought_something(row) end
  if fruitless then brought_nothing(row) end
  sums[2] = kind == 'k' and 0 or sums[2] + (fruitless and 1 or 0)
  local at = 4 + 2 * math.min(depth, DEPTHS - 1)
  sums[1], sums[3], sums[at], sums[at + 1] = sums[1] + 1, sums[3] + tokens, sums[at] + 1, sums[at + 1] + tokens
  local place = place_of_link(mark)
  if place then sums[place], sums[place + 1] = sums[place] + 1, sums[place + 1] + tokens end
  local brought = parent ~= shape and found[3] and credit(row, tokens) or 0
  reclassed(scope, name, row, usual)
  if brought > 1 then
    local up = row_of(found[3])
    up.led, up.led_n = up.led + brought, up.led_n + 1
    if kind == 'k' then brought_something(up) end
    reclassed(scope, parent, up, usual)
    call('HSET', key, WHOLE, struct.pack(SUMS, unpack(sums)), name, packed(row), parent, packed(up))
  else
    call('HSET', key, WHOLE, struct.pack(SUMS, unpack(sums)), name, packed(row))
  end
  if fruitless and bound > 0 and row.streak >= limit_of(row, bound) then later(scope, name) end
  if fruitless and bound > 0 and sums[2] >= 2 * bound then later(scope, OTHER) end
  score = num(score)
  if score and scored ~= weight then
    call('HSET', ST, 'scored', weight)
    scored = weight
  end
  if scored > 0 and kind ~= 'n' then
    for changed in pairs(rare().learn_score(scope, name, source, own, score)) do later(scope, changed) end
  end
  if every > 0 and sums[1] % every == 0 then exploring[scope] = true end
end
local function adapt()
  for scope, shapes in pairs(anew) do rare().order_anew(scope, shapes) end
  for scope in pairs(exploring) do rare().explore(scope) end
end
