// The tier of each test. `npm test` runs tests within one process of Node; a landing (`.ci/run`) adds tests of several
// processes, the deep suites of the packages that a change touches and of the packages that depend on them, and a
// rotating fifth of the others; the nightly runs all tests. Every file `*.deep.test.ts` is listed in one row of this table.
import { globSync } from 'node:fs'
import type { ComponentName } from './components.ts'
import { packagesInOrder } from './packages.ts'
import { REPOSITORY } from './source-files.ts'

export interface DeepSuite {
  readonly name: string
  /** Globs relative to the repository. */
  readonly files: readonly string[]
  readonly tier: 'landing' | 'nightly'
  /** Duration in seconds of all its files one after another on a quiet machine with two cores, rounded up. */
  readonly seconds: number
  readonly needs: readonly ComponentName[]
}

const TEMPORAL = ['temporal', 'postgres', 'redis'] as const

export const DEEP_SUITES: readonly DeepSuite[] = [
  { name: 'sqlite', files: ['packages/host/src/stores/sqlite/*'], tier: 'landing', seconds: 35, needs: [] },
  { name: 'shared sqlite', files: ['packages/host/src/stores/shared/*'], tier: 'landing', seconds: 20, needs: [] },
  {
    name: 'memory of an answer, cost of types',
    files: [
      'packages/host/src/local/answer-memory.*',
      'packages/host/src/local/lingering-memory.*',
      'packages/host/src/type-cost.*',
    ],
    tier: 'landing',
    seconds: 24,
    needs: [],
  },
  {
    name: 'postgres',
    files: ['packages/host/src/stores/postgres/*'],
    tier: 'landing',
    seconds: 14,
    needs: ['postgres'],
  },
  {
    name: 'client in a browser',
    files: ['packages/client/src/browser.*', 'packages/client/src/outbox/*', 'packages/client/src/react/*'],
    tier: 'landing',
    seconds: 20,
    needs: ['chromium'],
  },
  {
    name: 'the inbox of two servers',
    files: ['packages/testing/src/inbox/*'],
    tier: 'landing',
    seconds: 12,
    needs: ['postgres'],
  },
  {
    name: 'client over two servers',
    files: ['packages/client/src/two-processes.*'],
    tier: 'landing',
    seconds: 36,
    needs: ['postgres'],
  },
  { name: 'handshake of a tree', files: ['packages/testing/src/tree/*'], tier: 'nightly', seconds: 150, needs: [] },
  {
    name: 'kills of a tree',
    files: ['packages/client/src/kill-trees.*'],
    tier: 'nightly',
    seconds: 170,
    needs: ['postgres'],
  },
  { name: 'client and kills', files: ['packages/client/src/kill-moments.*'], tier: 'nightly', seconds: 51, needs: [] },
  {
    name: 'commands',
    files: [
      'commands/acp',
      'commands/mcp',
      'words/mcp-option',
      'places/remote-chat',
      'commands/scripts',
      'commands/serve',
    ].map((name) => `packages/cli/src/${name}.*`),
    tier: 'landing',
    seconds: 65,
    needs: [],
  },
  {
    name: 'commands in a terminal',
    files: ['packages/cli/src/commands/chat.*', 'packages/cli/src/commands/mcp-chat.*'],
    tier: 'landing',
    seconds: 38,
    needs: ['tmux'],
  },
  {
    name: 'commands and their peers',
    files: ['packages/cli/src/commands/peers.*'],
    tier: 'landing',
    seconds: 35,
    needs: ['postgres'],
  },
  {
    name: 'commands without a network',
    files: ['packages/cli/src/commands/no-network.*'],
    tier: 'landing',
    seconds: 36,
    needs: ['bubblewrap'],
  },
  {
    name: 'commands over Temporal',
    files: ['packages/cli/src/commands/temporal.*', 'packages/cli/src/commands/mcp-temporal.*'],
    tier: 'landing',
    seconds: 60,
    needs: TEMPORAL,
  },
  {
    name: 'MCP',
    files: ['changed-tools', 'mcp-server', 'misbehaving-servers']
      .map((name) => `packages/mcp/src/client/${name}.*`)
      .concat('packages/mcp/src/server/*'),
    tier: 'landing',
    seconds: 30,
    needs: [],
  },
  {
    name: 'MCP servers of others',
    files: [
      'packages/mcp/src/client/stock-servers.*',
      'packages/mcp/src/client/restarts.*',
      'packages/mcp/src/conformance/*',
      'packages/testing/src/schemas/*',
    ],
    tier: 'nightly',
    seconds: 280,
    needs: ['chromium'],
  },
  {
    name: 'schemas of a local model',
    files: ['packages/models/src/schema/*'],
    tier: 'nightly',
    seconds: 20,
    needs: ['gguf'],
  },
  { name: 'editors', files: ['packages/server/src/acp/*'], tier: 'nightly', seconds: 120, needs: [] },
  {
    name: 'Temporal',
    files: ['temporal', 'ended-workflow', 'queries', 'reminders', 'search-attributes', 'stopped-gateways', 'turn-cost']
      .map((name) => `packages/temporal/src/${name}.*`)
      .concat('packages/temporal/src/host/client-leases.*', 'packages/temporal/src/live/redis-bus.*'),
    tier: 'landing',
    seconds: 110,
    needs: TEMPORAL,
  },
  {
    name: 'notices over Temporal',
    files: ['packages/testing/src/notices/*'],
    tier: 'nightly',
    seconds: 180,
    needs: TEMPORAL,
  },
  {
    name: 'trees and tasks over Temporal',
    files: ['packages/temporal/src/trees.*', 'packages/temporal/src/tasks.*'],
    tier: 'nightly',
    seconds: 120,
    needs: TEMPORAL,
  },
  {
    name: 'Temporal for long',
    files: [
      'packages/temporal/src/long-sessions.*',
      'packages/temporal/src/long-waits.*',
      'packages/temporal/src/host/session-directory.*',
      'packages/temporal/src/host/inbox.*',
    ],
    tier: 'nightly',
    seconds: 175,
    needs: TEMPORAL,
  },
  {
    name: 'wires',
    files: ['packages/testing/src/fake-providers/aimock.*', 'packages/testing/src/handoff/*'],
    tier: 'landing',
    seconds: 27,
    needs: [],
  },
  {
    name: 'a proxy of others',
    files: ['packages/testing/src/openai-server/*'],
    tier: 'nightly',
    seconds: 24,
    needs: ['litellm'],
  },
  {
    name: 'local models',
    files: ['packages/testing/src/explorer/*', 'packages/testing/src/components/gguf.*'],
    tier: 'nightly',
    seconds: 170,
    needs: ['gguf'],
  },
  {
    name: 'hosts and clients for long',
    files: [
      'packages/testing/src/barge-in/*',
      'packages/testing/src/fresh-client/*',
      'packages/testing/src/home-clients/*',
      'packages/testing/src/soak/*',
    ],
    tier: 'nightly',
    seconds: 600,
    needs: [...TEMPORAL, 'python'],
  },
  {
    name: 'Temporal in trouble',
    files: ['packages/testing/src/host-contract/*', 'packages/testing/src/temporal-chaos/*'],
    tier: 'nightly',
    seconds: 600,
    needs: TEMPORAL,
  },
  {
    name: 'tools',
    files: [
      'packages/kits/src/acp-agent/*',
      'packages/tools/src/workspace/shell-tool.*',
      'packages/tools/src/workspace/bubblewrap-lookup.*',
      'packages/tools/src/workspace/git-guards.*',
    ],
    tier: 'landing',
    seconds: 22,
    needs: ['bubblewrap'],
  },
  {
    name: 'searches beside ripgrep',
    files: ['packages/tools/src/workspace/grep.*', 'packages/tools/src/workspace/ripgrep-filter.*'],
    tier: 'nightly',
    seconds: 101,
    needs: ['ripgrep'],
  },
  { name: 'first programs', files: ['packages/testing/src/first-programs.*'], tier: 'nightly', seconds: 60, needs: [] },
  {
    name: 'Deno and Bun',
    files: ['packages/testing/src/runtimes/*'],
    tier: 'nightly',
    seconds: 120,
    needs: ['bun', 'deno'],
  },
  {
    name: 'a large session file',
    files: ['packages/kits/src/coding-sessions/*'],
    tier: 'nightly',
    seconds: 60,
    needs: [],
  },
  { name: 'the console', files: ['packages/console/page/page.*'], tier: 'landing', seconds: 74, needs: ['chromium'] },
  {
    name: 'ten questions to the console',
    files: ['packages/console/page/ten-questions.*'],
    tier: 'nightly',
    seconds: 40,
    needs: ['chromium'],
  },
  { name: 'the chat page', files: ['examples/chat-web/chat-web.*'], tier: 'landing', seconds: 30, needs: ['chromium'] },
  {
    name: 'the chat page in trouble',
    files: ['accessibility', 'broken-network', 'killed-server', 'temporal', 'temporal-kills', 'two-servers'].map(
      (name) => `examples/chat-web/${name}.*`,
    ),
    tier: 'nightly',
    seconds: 400,
    needs: ['chromium', ...TEMPORAL],
  },
  { name: 'the voice page', files: ['examples/voice-web/*'], tier: 'nightly', seconds: 40, needs: ['chromium'] },
  {
    name: 'examples',
    files: ['examples/issue-solver/*', 'examples/client-python/*'],
    tier: 'landing',
    seconds: 20,
    needs: ['python'],
  },
  {
    name: 'examples with libraries of others',
    files: ['examples/embed/*', 'examples/guide/*', 'examples/library/*', 'scripts/comparison.*'],
    tier: 'nightly',
    seconds: 300,
    needs: ['chromium', 'postgres', 'next', 'assistant-ui', 'bench'],
  },
  {
    name: 'the goal review',
    files: ['examples/goal-review/*'],
    tier: 'nightly',
    seconds: 110,
    needs: [...TEMPORAL, 'go'],
  },
  { name: 'files of packs', files: ['scripts/packed-files.*'], tier: 'landing', seconds: 12, needs: [] },
  {
    name: 'the fake GitHub',
    files: ['scripts/github-openapi/*'],
    tier: 'nightly',
    seconds: 20,
    needs: ['github-openapi'],
  },
]

/**
 * Maximum total duration in seconds of a landing's deep suites, one after another, on a quiet machine; two run at once.
 */
export const LANDING_SECONDS_MAX = 720

/** The deep test files of a suite, below the repository. */
export function listFiles({ files }: DeepSuite): readonly string[] {
  return globSync(
    files.map((glob) => `${glob}`),
    { cwd: REPOSITORY },
  )
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.deep.test.ts'))
    .toSorted()
}

export interface LandingPlan {
  readonly suites: readonly DeepSuite[]
  /** Why each suite is played, by its name: the changed package, or the rotation. */
  readonly reasons: Readonly<Record<string, string>>
  /** Whether a manifest, an index or an entry changed. */
  readonly isPacking: boolean
}

/** Every suite that no change touches runs once within this many days. */
const ROTATION = 5

/** @param seed the day: another day runs another fifth of the suites that the change does not touch */
export function planLanding(changed: readonly string[], seed: number): LandingPlan {
  const touched = listTouched(changed)
  const reasons: Record<string, string> = {}
  for (const [index, suite] of DEEP_SUITES.filter(({ tier }) => tier === 'landing').entries()) {
    const below = listBelow(suite)
    const found = touched === 'all' ? 'the whole repository' : [...below].find((place) => touched.has(place))
    if (found !== undefined) reasons[suite.name] = `${found} changed`
    else if ((index + seed) % ROTATION === 0) reasons[suite.name] = `its turn, seed ${seed}`
  }
  return {
    suites: DEEP_SUITES.filter(({ name }) => name in reasons),
    reasons,
    isPacking: touched === 'all' || changed.some((file) => PACKED.test(file)),
  }
}

const PACKED =
  /(?:^|\/)(?:package\.json|package-lock\.json|README\.md|index\.ts)$|^scripts\/(?:pack|build|packed)|^packages\/cli\/(?:bin|src\/init)/
/** Files of the repository itself: a change to them may affect anything. */
const EVERYWHERE = /^(?:package(?:-lock)?\.json|vitest\.config\.ts|tsconfig\.base\.json|\.npmrc)$/

/** Folders of packages, `examples` or `scripts` that the change touches. */
function listTouched(changed: readonly string[]): ReadonlySet<string> | 'all' {
  if (changed.some((file) => EVERYWHERE.test(file))) return 'all'
  return new Set(changed.map(placeOf).filter((place) => place !== undefined))
}

function placeOf(file: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(file)?.[1] ?? /^(examples|scripts)\//.exec(file)?.[1]
}

/** The place of the suite, and all packages that it depends on. */
function listBelow(suite: DeepSuite): ReadonlySet<string> {
  const own = placeOf(suite.files[0] ?? '')
  const packages = packagesInOrder()
  if (own === 'examples' || own === 'scripts') return new Set([own, ...packages.map(({ folder }) => folder)])
  const below = new Set<string>()
  const add = (folder: string | undefined): void => {
    const one = packages.find((other) => other.folder === folder)
    if (!one || below.has(one.folder)) return
    below.add(one.folder)
    for (const name of one.needs) add(name.replace('@baton/', ''))
  }
  add(own)
  return below
}
