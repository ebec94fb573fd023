// Checks `acp/agent.json` and `acp/icon.svg` against the rules of the Agent Client Protocol's registry.
import { Ajv } from 'ajv'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from '../version.ts'

const read = (name: string): string => readFileSync(new URL(`../../acp/${name}`, import.meta.url), 'utf8')

test('agent.json fits the schema of the registry, and names this version', () => {
  const agent = JSON.parse(read('agent.json')) as {
    readonly version: string
    readonly distribution: { readonly npx: { readonly package: string; readonly args: readonly string[] } }
  } // checked by the next lines
  const check = new Ajv({ validateFormats: false }).compile(JSON.parse(read('agent.schema.json')) as object)
  check(agent)
  expect(check.errors).toBeNull()
  expect(agent.version).toBe(VERSION)
  expect(agent.distribution.npx).toEqual({ package: `@baton/cli@${VERSION}`, args: ['acp'] })
})

test('the icon has 16 by 16 units and the colour of the text around it', () => {
  const icon = read('icon.svg')
  expect(icon).toContain('width="16" height="16" viewBox="0 0 16 16"')
  const colours = [...icon.matchAll(/(?:fill|stroke)="([^"]+)"/g)].map(([, colour]) => colour)
  expect(new Set(colours)).toEqual(new Set(['none', 'currentColor']))
})
