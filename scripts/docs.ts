// Writes the generated parts of docs/ and of other pages: `npm run docs`; with `--check` it only lists the outdated pages. To add a page,
// add one entry to GENERATORS.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { comparisonPage } from './docs-comparison.ts'
import { errorsPage } from './docs-errors.ts'
import { logPage } from './docs-log.ts'
import { protocolPage } from './docs-protocol.ts'
import { SCHEMA_FILES } from './docs-schemas.ts'
import { modelsPage } from './docs-models.ts'
import { listedModels } from './listed-models.ts'
import { agentsPage } from './layers.ts'
import { toolsPage } from './docs-tools.ts'
import { drawReconnect } from './docs-reconnect.ts'
import { drawTrace } from './docs-trace.ts'
import { promisesPage } from './docs-promises.ts'
import { providersPage } from './docs-providers.ts'
import { findFaults, readLedger, readPageSentences } from './promises.ts'
import { REPOSITORY } from './source-files.ts'
import { architecturePage } from './state-diagram.ts'

export interface GeneratedPage {
  /** Path of the page in the repository. */
  readonly path: string
  /** Generates the complete page. The same code must produce the same text. */
  readonly generate: () => string | Promise<string>
}

export const GENERATORS: readonly GeneratedPage[] = [
  { path: 'AGENTS.md', generate: agentsPage },
  { path: 'docs/tools.md', generate: toolsPage },
  { path: 'docs/errors.md', generate: errorsPage },
  { path: 'docs/log.md', generate: logPage },
  { path: 'docs/protocol-2-reference.md', generate: protocolPage },
  ...Object.entries(SCHEMA_FILES).map(([name, schema]) => ({
    path: `docs/schemas/${name}.json`,
    generate: (): string => `${JSON.stringify(schema, undefined, 2)}\n`,
  })),
  { path: 'docs/architecture.md', generate: architecturePage },
  { path: 'docs/providers.md', generate: providersPage },
  { path: 'docs/models.md', generate: modelsPage },
  { path: 'docs/comparison.md', generate: comparisonPage },
  { path: 'docs/promises.md', generate: () => promisesPage() },
  { path: 'packages/models/src/listed-models-extract.ts', generate: listedModels },
  { path: 'docs/trace.svg', generate: drawTrace },
  { path: 'docs/reconnect.svg', generate: drawReconnect },
]

/** Pages that are missing or differ from the generated text, with the expected text. */
export async function findStalePages(): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const pages = await Promise.all(GENERATORS.map(async ({ path, generate }) => ({ path, text: await generate() })))
  return pages.filter(({ path, text }) => readPage(path) !== text)
}

function readPage(path: string): string | undefined {
  try {
    return readFileSync(join(REPOSITORY, path), 'utf8')
  } catch {
    return undefined
  }
}

if (process.argv[1] === import.meta.filename) {
  const stale = await findStalePages()
  const isCheck = process.argv.includes('--check')
  for (const { path, text } of stale) {
    if (isCheck) console.error(`${path} is out of date; run: npm run docs`)
    else {
      mkdirSync(dirname(join(REPOSITORY, path)), { recursive: true })
      writeFileSync(join(REPOSITORY, path), text)
    }
  }
  console.log(`docs: ${GENERATORS.length} generated pages, ${stale.length} ${isCheck ? 'out of date' : 'written'}`)
  const faults = isCheck ? findFaults(readLedger(), readPageSentences()) : []
  for (const fault of faults) console.error(fault)
  process.exitCode = (isCheck && stale.length > 0) || faults.length > 0 ? 1 : 0
}
