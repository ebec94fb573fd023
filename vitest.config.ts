// Five suites: `fast` and `property` (random runs) are `npm test`; a landing adds `process` (starts real processes); `deep` and `alone`
// are of `npm run test:deep` only. There, and with `--mode landing`, what knows of depth tries more seeds
// (packages/testing/src/components/depth.ts).
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { DEEP_MS, FAST_MS, POLL_MS, PROCESS_MS, PROPERTY_MS } from './scripts/test-waits.ts'

// Those of Node, which knows no `module`.
const conditions = ['@baton/source', 'node', 'default']
const shared = { resolve: { conditions }, ssr: { resolve: { conditions, externalConditions: ['@baton/source'] } } }
const places = (suffix: string) =>
  ['packages/*/src', 'packages/console/page', 'scripts', 'examples'].map((folder) => `${folder}/**/*${suffix}`)
const longer = ['.property.test.ts', '.process.test.ts', '.deep.test.ts'].flatMap(places)

/** Deep tests that need the whole machine: browsers, a service and workers, or a model, which stand still beside other work. */
const ALONE = [
  'examples/chat-web/temporal.deep.test.ts',
  'examples/chat-web/temporal-kills.deep.test.ts',
  'packages/server/src/acp/acpx.deep.test.ts',
  'packages/mcp/src/conformance/*.deep.test.ts',
  'packages/testing/src/temporal-chaos/*.deep.test.ts',
  'packages/testing/src/host-contract/temporal-contract.deep.test.ts',
  'packages/testing/src/explorer/small-model.deep.test.ts',
]

/** Tests of the sources' text, which `npm run check` and a landing run. */
const TEXTS = ['api', 'english', 'layering', 'rules', 'second-tries', 'startup'].map(
  (name) => `scripts/${name}.test.ts`,
)

// Of an example that installs and builds in its own folder.
const INSTALLED = ['**/node_modules/**', '**/.next/**']

// What Node compiles, threads and commands that tests start take from here: each would strip the same types again.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node-compile')

export default defineConfig(({ mode }) => {
  const depth = mode === 'deep' || mode === 'landing' ? mode : 'quick'
  const suite = (name: string, include: readonly string[], testTimeout: number, exclude: readonly string[] = []) => ({
    ...shared,
    test: {
      name,
      // Modules have no state, so fast and property tests share a worker and what it has loaded: that halves their time.
      isolate: name !== 'fast' && name !== 'property',
      include: [...include],
      exclude: [...INSTALLED, ...exclude],
      setupFiles: ['expected-warnings.ts', 'loaded-libraries.ts'].map((name) =>
        join(import.meta.dirname, 'scripts', name),
      ),
      // A hang, and nothing that a slow machine could reach.
      testTimeout,
      hookTimeout: 300_000,
      expect: { poll: { timeout: POLL_MS } },
      env: { BATON_TEST_DEPTH: depth },
    },
  })
  /** After all others, one file at a time. */
  const last = <Suite extends ReturnType<typeof suite>>({ test, ...rest }: Suite) => ({
    ...rest,
    test: { ...test, maxWorkers: 1, sequence: { groupOrder: 1 } },
  })
  // In a deep run the others would only be what a landing has run.
  const processes = globSync(places('.process.test.ts'), { cwd: import.meta.dirname }).filter(
    (file) => depth !== 'deep' || /from '.*\bdepth(\.ts)?'/.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
  )
  return {
    test: {
      env: { BATON_TEST_DEPTH: depth },
      // One more than the cores of a small machine: many tests wait for processes and sockets.
      maxWorkers: 3,
      globalSetup: ['scripts/tell-depth.ts'],
      projects: [
        suite('fast', places('.test.ts'), FAST_MS, depth === 'quick' ? [...longer, ...TEXTS] : longer),
        suite('property', places('.property.test.ts'), PROPERTY_MS),
        suite('process', processes, PROCESS_MS),
        ...(depth === 'deep'
          ? [suite('deep', places('.deep.test.ts'), DEEP_MS, ALONE), last(suite('alone', ALONE, DEEP_MS))]
          : []),
      ],
    },
  }
})
