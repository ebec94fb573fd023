// The way of one tool call through the files, traced with real stacks (awaits included), is the one in the docs.
import { readFile } from 'node:fs/promises'
import { Session as Inspector, console as inspectorConsole } from 'node:inspector'
import { basename } from 'node:path'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createNodeEnvironment } from '../environment.ts'
import { createHost } from './create-host.ts'

interface StackTrace {
  readonly callFrames: readonly { readonly functionName: string; readonly url: string }[]
  readonly parent?: StackTrace
}

test('a tool call visits the files that the architecture names, in order, in seven calls', async () => {
  const functions = await traceToolCall()
  expect(functions).toEqual(await documentedWay())
  // Each function calls the next one, and the last one the tool's `execute`.
  expect(functions.length).toBeLessThanOrEqual(7)
})

/** Functions of this package from `send` to the tool, outermost first, every one that the real stack has. */
async function traceToolCall(): Promise<string[]> {
  const inspector = new Inspector()
  inspector.connect()
  const traces: StackTrace[] = []
  inspector.on('Runtime.consoleAPICalled', ({ params }) => {
    if (params.type === 'trace' && params.stackTrace) traces.push(params.stackTrace as StackTrace)
  })
  inspector.post('Runtime.enable')
  inspector.post('Debugger.enable')
  inspector.post('Debugger.setAsyncCallStackDepth', { maxDepth: 32 })
  const traced = tool({
    name: 'traced',
    description: 'Shows where it is called from',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => {
      inspectorConsole.trace('traced')
    },
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'traced', arguments: {} }] }, { text: 'done' }] })
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network')) })
  const host = createHost({ environment, agent: defineAgent({ name: 'traced', model, tools: [traced] }) })
  const session = await host.session('traced')
  await session.send('go').answer
  await host.stop()
  inspector.disconnect()
  return listFrames(traces[0])
    .filter(({ url }) => /\/packages\/(?:host|runtime)\/src\//.test(url) && !url.includes('.test.'))
    .map((frame) => `${frame.functionName} (${basename(frame.url)})`)
    .reverse()
}

function listFrames(trace: StackTrace | undefined): StackTrace['callFrames'] {
  return trace ? [...trace.callFrames, ...listFrames(trace.parent)] : []
}

/** The numbered list under "The way of one tool call" in the architecture page: `function` in `file`. */
async function documentedWay(): Promise<string[]> {
  const page = await readFile(new URL('../../../../docs/architecture.md', import.meta.url), 'utf8')
  const section = page.split('## The way of one tool call')[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^\d+\. `(\w+)` in `[\w/.-]*?([\w-]+\.ts)`/gm)].map(
    ([, name, file]) => `${name} (${file})`,
  )
}
