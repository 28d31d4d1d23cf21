-- common.lua stands above as one function; most calls of these scripts do without it.
local library
local function rare()
  library = library or common()
  return library
end
local function save_if_needed()
  if library then library.save() end
end
