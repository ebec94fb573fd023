// The log page and the schemas next to it cover every kind of fact and input, and accept real records.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { CLIENT_REPORTS, HOST_FACTS, HOST_REPORTS, USER_COMMANDS } from '@baton/core/machine'
import { explore } from '@baton/core/testing'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { logPage, readKinds } from './docs-log.ts'
import { readTable } from './docs-shapes.ts'
import { SCHEMA_FILES } from './docs-schemas.ts'
import { readSource, REPOSITORY } from './source-files.ts'

const inputs = readSource('packages/core/src/machine/input.ts')

test.each([
  ['UserCommand', USER_COMMANDS],
  ['ClientReport', CLIENT_REPORTS],
  ['HostReport', HOST_REPORTS],
] as const)('every input of %s is read', (alias, kinds) => {
  expect(
    readKinds(inputs, alias)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([...kinds].toSorted())
})

test('every fact stands on the page, those of hosts with their mark', () => {
  const page = logPage()
  for (const name of HOST_FACTS) expect(page).toContain(`### \`${name}\` *\n`)
  for (const { name, meaning } of readTable('packages/core/src/machine/fact.ts', 'FACTS')) {
    expect(page).toContain(`### \`${name}\``)
    expect(meaning).not.toContain('*/')
  }
})

test('the schema of records takes what sessions write, and nothing that lacks a field', () => {
  const isRecord = new Ajv2020({ strict: false }).compile(SCHEMA_FILES['record'] ?? {})
  for (let seed = 1; seed <= 20; seed++)
    for (const record of explore({ seed }).world.records) {
      const written: unknown = JSON.parse(JSON.stringify(record))
      isRecord(written)
      expect(isRecord.errors ?? []).toEqual([])
      expect(isRecord({ ...(written as object), facts: [{ type: 'turn-started' }] })).toBe(false)
    }
})

test('each schema is a file that any validator compiles', () => {
  for (const name of Object.keys(SCHEMA_FILES)) {
    const text = readFileSync(join(REPOSITORY, 'docs/schemas', `${name}.json`), 'utf8')
    expect(() => new Ajv2020({ strict: false }).compile(JSON.parse(text) as object)).not.toThrow()
  }
})
