// The table of tiers: every deep test is listed once, and a change selects the suites that it can break.
import { globSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { REPOSITORY } from './source-files.ts'
import { DEEP_SUITES, LANDING_SECONDS_MAX, listFiles, planLanding } from './suites.ts'

test('every deep test is a file of one suite', () => {
  const folders = ['packages/*/src', 'packages/console/page', 'examples', 'scripts']
  const pattern = folders.map((folder) => `${folder}/**/*.deep.test.ts`)
  const files = globSync(pattern, { cwd: REPOSITORY, exclude: (path) => path.includes('node_modules') })
  expect(DEEP_SUITES.flatMap(listFiles).toSorted()).toEqual(files.toSorted())
})

test('all suites of a landing together fit into its time', () => {
  const landing = DEEP_SUITES.filter(({ tier }) => tier === 'landing')
  expect(landing.reduce((sum, { seconds }) => sum + seconds, 0)).toBeLessThanOrEqual(LANDING_SECONDS_MAX)
})

describe('a change of', () => {
  // A seed that rotates in only the first suite and each fifth one after it.
  const play = (...changed: readonly string[]) => {
    const { suites, reasons, isPacking } = planLanding(changed, 0)
    return { asked: suites.map(({ name }) => name).filter((name) => !reasons[name]?.startsWith('its turn')), isPacking }
  }

  test('a page asks for no deep suite and no pack', () => {
    expect(play('docs/tools.md')).toEqual({ asked: [], isPacking: false })
  })

  test('the command asks for the suites of the command, and of the examples, which stand on it', () => {
    const { asked } = play('packages/cli/src/commands/serve.ts')
    expect(asked).toEqual(expect.arrayContaining(['commands', 'commands over Temporal', 'the chat page']))
    expect(asked).not.toEqual(expect.arrayContaining(['sqlite']))
  })

  test('the core asks for all that stands on it', () => {
    const { asked } = play('packages/core/src/machine/table.ts')
    expect(asked).toEqual(expect.arrayContaining(['sqlite', 'MCP', 'Temporal', 'tools', 'wires', 'commands']))
  })

  test('the host does not ask for what stands beside it', () => {
    const { asked } = play('packages/host/src/local/actor.ts')
    expect(asked).toContain('sqlite')
    expect(asked).not.toContain('tools')
  })

  test('an entry of a package asks for packs, a lockfile for everything', () => {
    expect(play('packages/core/src/index.ts').isPacking).toBe(true)
    const landing = DEEP_SUITES.filter(({ tier }) => tier === 'landing').map(({ name }) => name)
    expect(play('package-lock.json')).toEqual({ asked: landing, isPacking: true })
  })
})

test('each suite of a landing has its turn in five days, whatever changes', () => {
  const turns = [1, 2, 3, 4, 5].flatMap((seed) => planLanding([], seed).suites.map(({ name }) => name))
  const landing = DEEP_SUITES.filter(({ tier }) => tier === 'landing').map(({ name }) => name)
  expect(turns.toSorted()).toEqual(landing.toSorted())
})
