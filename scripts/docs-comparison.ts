// The table in docs/comparison.md: how many statements the same program has with Baton, the AI SDK and pi.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Library, Task } from '../bench/programs/tasks.ts'
import { LIBRARIES, TASKS } from '../bench/programs/tasks.ts'
import { countStatements } from './count-statements.ts'
import { withGeneratedPart } from './generated-part.ts'
import { REPOSITORY } from './source-files.ts'

export interface ComparedTask {
  readonly task: Task
  readonly statements: Readonly<Record<Library, number>>
}

export function countPrograms(): readonly ComparedTask[] {
  const count = ({ name }: Task, library: Library): number => {
    const path = `bench/programs/${name}/${library}.ts`
    return countStatements(path, readFileSync(join(REPOSITORY, path), 'utf8'))
  }
  return TASKS.map((task) => ({
    task,
    statements: { baton: count(task, 'baton'), 'ai-sdk': count(task, 'ai-sdk'), pi: count(task, 'pi') },
  }))
}

/** The complete page. */
export function comparisonPage(): string {
  const counted = countPrograms()
  const rows = counted.map(
    ({ task: { name, does }, statements }) =>
      `| \`${name}\` | ${does} | ${LIBRARIES.map((library) => statements[library]).join(' | ')} |`,
  )
  const sums = LIBRARIES.map((library) => counted.reduce((sum, { statements }) => sum + statements[library], 0))
  const table = [
    `| Program | Does | Baton | AI SDK ${readVersion('ai')} | pi ${readVersion('@earendil-works/pi-agent-core')} |`,
    '|---|---|--:|--:|--:|',
    ...rows,
    `| | all ten | ${sums.join(' | ')} |`,
  ]
  return withGeneratedPart('docs/comparison.md', 'statements', table.join('\n'))
}

function readVersion(name: string): string {
  // The folder's own lockfile pins exact versions.
  const { dependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'bench/package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const version = dependencies[name]
  if (version === undefined) throw new Error(`bench/package.json lacks ${name}`)
  return version
}

if (process.argv[1] === import.meta.filename)
  console.table(Object.fromEntries(countPrograms().map(({ task, statements }) => [task.name, statements])))
