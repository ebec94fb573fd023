// Cost of type checking a program with fifty tools, in type instantiations counted by the compiler, which are the same
// on every machine. 25,000 of them take about a sixth of a second.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const TOOLS = 50
const INSTANTIATIONS_MAX = 40_000
const OPTIONS =
  '--ignoreConfig --noEmit --strict --module nodenext --target es2023 --lib es2024,esnext.disposable --types node ' +
  '--skipLibCheck --exactOptionalPropertyTypes --noUncheckedIndexedAccess --customConditions @baton/source --allowImportingTsExtensions --extendedDiagnostics'

test(`a program with ${TOOLS} tools is checked quickly`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-types-'))
  try {
    await symlink(MODULES, join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    const [none, many] = [await countInstantiations(folder, 0), await countInstantiations(folder, TOOLS)]
    console.info(`types of ${TOOLS} tools: ${many - none} instantiations`)
    expect(many - none).toBeGreaterThan(TOOLS)
    expect(many - none).toBeLessThan(INSTANTIATIONS_MAX)
  } finally {
    await rm(folder, { recursive: true })
  }
})

async function countInstantiations(folder: string, tools: number): Promise<number> {
  const file = join(folder, `tools-${tools}.ts`)
  await writeFile(file, writeProgram(tools))
  const command = [join(MODULES, 'typescript/bin/tsc'), ...OPTIONS.split(' '), file]
  const { stdout } = await promisify(execFile)(process.execPath, command, { timeout: 180_000 })
  return Number(/^Instantiations: +(\d+)$/m.exec(stdout)?.[1])
}

/** A program with all kinds of tools: server and client, with both kinds of schemas. */
function writeProgram(count: number): string {
  const tools = Array.from({ length: count }, (_, index) => {
    const input = index % 2 === 0 ? LITERAL : LIBRARY
    const execute = index % 5 === 0 ? '' : ', execute: ({ city }) => ({ city })'
    return `const tool${index} = tool({ name: 'tool${index}', description: 'A tool', input: ${input}${execute} })`
  })
  const handlers = count === 0 ? '' : 'tool0: ({ city }) => city.length, tool5: ({ count }) => count.toFixed()'
  return `import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'
${tools.join('\n')}
const agent = defineAgent({ name: 'a', model: 'offline', tools: [${tools.map((_, index) => `tool${index}`).join(', ')}] })
const session = await createHost({ agent }).session()
await session.attach({ ${handlers} })
export const { text } = await session.send('Hi').answer
export { tool, z }
`
}

const LITERAL =
  "{ type: 'object', properties: { city: { type: 'string' }, count: { type: 'integer' }, tags: { type: 'array', " +
  "items: { type: 'string' } } }, required: ['city'] }"
const LIBRARY = 'z.object({ city: z.string(), count: z.number().default(1), tags: z.array(z.string()).optional() })'
