// The mutants can still be applied: a file that moves, or a line that changes, takes its mutant along.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DECODER_MUTANTS } from './decoder-mutants.ts'
import { FRONT_MUTANTS } from './front-mutants.ts'
import { MCP_MODEL_MUTANTS } from './mcp-model-mutants.ts'
import { MUTANTS } from './mutant-list.ts'
import { SITUATION_MUTANTS } from './situation-mutants.ts'
import { REPOSITORY } from './source-files.ts'

test.each([...MUTANTS, ...DECODER_MUTANTS, ...SITUATION_MUTANTS, ...FRONT_MUTANTS, ...MCP_MODEL_MUTANTS])(
  '$name: its text stands once in its file, and its test is there',
  ({ file, from, test: noticed }) => {
    const path = join(REPOSITORY, file)
    const places = existsSync(path) ? readFileSync(path, 'utf8').split(from).length - 1 : 0
    const isNoticed = !('file' in noticed) || existsSync(join(REPOSITORY, noticed.file))
    expect({ file, places, isNoticed }).toEqual({ file, places: 1, isNoticed: true })
  },
)
