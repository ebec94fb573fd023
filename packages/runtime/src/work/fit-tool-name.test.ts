// Names with a model's markup around them: one tool is meant, or nobody guesses.
import { expect, test } from 'vitest'
import { fitToolName } from './fit-tool-name.ts'

const TOOLS = ['list_files', 'fs.read', 'weather:0', 'weather'].map((name) => ({ name }))

test.each([
  ['list_files<|channel|>commentary', 'list_files'],
  ['functions.list_files:0', 'list_files'],
  ['functions.list_files', 'list_files'],
  ['default_api.list_files', 'list_files'],
  ['default_api:list_files', 'list_files'],
  ['default_api.fs.read', 'fs.read'],
  [' list_files ', 'list_files'],
  ['functions.list_files:12<|constrain|>json', 'list_files'],
])('%s means %s', (name, meant) => {
  expect(fitToolName(name, TOOLS)).toBe(meant)
})

test.each(['list_files', 'weather:0', 'functions.none', 'list-files', 'functions.weather:0', ''])(
  '"%s" stays as it is',
  (name) => {
    expect(fitToolName(name, TOOLS)).toBeUndefined()
  },
)
