// Names with a model's markup around them, or spelled differently: they resolve to one tool or to none.
import { expect, test } from 'vitest'
import { fitToolName } from './call-check.ts'

const TOOLS = ['list_files', 'fs.read', 'weather:0', 'weather', 'get-time', 'get_time'].map((name) => ({ name }))

test.each([
  ['list_files<|channel|>commentary', 'list_files'],
  ['functions.list_files:0', 'list_files'],
  ['functions.list_files', 'list_files'],
  ['default_api.list_files', 'list_files'],
  ['default_api:list_files', 'list_files'],
  ['default_api.fs.read', 'fs.read'],
  [' list_files ', 'list_files'],
  ['functions.list_files:12<|constrain|>json', 'list_files'],
  ['assistant<|channel|>commentary to=functions.list_files <|constrain|>json', 'list_files'],
  ['<|tool_call_begin|>functions.list_files:0', 'list_files'],
  ['list-files', 'list_files'],
  ['ListFiles', 'list_files'],
  ['fs_read', 'fs.read'],
  ['FS-Read', 'fs.read'],
  ['functions.fs/read:0', 'fs.read'],
  ['functions.List_Files:0', 'list_files'],
  ['commentary to=functions.list_files json', 'list_files'],
  ['list_files commentary', 'list_files'],
  ['list_files()', 'list_files'],
  ['list_files(', 'list_files'],
  ['`list_files`', 'list_files'],
  ['"functions.list_files"', 'list_files'],
  ['list_files\u0000', 'list_files'],
])('%s means %s', (name, meant) => {
  expect(fitToolName(name, TOOLS)).toBe(meant)
})

test.each(['list_files', 'weather:0', 'functions.none', 'getTime', 'functions.weather:0', '', '_', '.'])(
  '"%s" stays as it is',
  (name) => {
    expect(fitToolName(name, TOOLS)).toBeUndefined()
  },
)
