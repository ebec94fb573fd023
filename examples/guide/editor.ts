// Both ends of a session in an editor: what the editor sends and shows (on the left), and the agent, whose model is a
// script here.
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import { createHost } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { serveAcpOverStdio } from '@baton/server/acp'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import createAgent from './editor-agent.ts'

const model = createScriptedModel({
  steps: [
    { text: 'I read the note first.', calls: [{ name: 'content.get_span', arguments: { path: 'note.txt' } }] },
    {
      calls: [
        { name: 'fs.edit', arguments: { path: 'note.txt', edits: [{ oldText: 'wensday', newText: 'Wednesday' }] } },
      ],
    },
    { text: 'The note says "Wednesday" now.' },
  ],
})
const cwd = await mkdtemp(join(tmpdir(), 'project-'))
const file = join(cwd, 'note.txt')
await writeFile(file, 'See you on wensday.\n')
const host = createHost({ modelOf: () => model, defaultModel: model.id })
const [input, output] = [new PassThrough(), new PassThrough()]
const server = serveAcpOverStdio(host, { agentOf: (place) => createAgent(place), name: 'gardener', input, output })

/** The editor's open files, with an unsaved change. */
const open = new Map([[file, 'See you on wensday!\n']])
const say = (line: string): void => console.log(line.replaceAll(cwd, '~'))
const show = (update: SessionUpdate): void => {
  if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
    say(`  > ${update.content.text}`)
  if ((update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') && 'status' in update)
    say(`  [${update.status}] ${update.title}`)
}
const editor = client({ name: 'editor' })
  .onNotification(methods.client.session.update, ({ params }) => show(params.update))
  .onRequest(methods.client.session.requestPermission, ({ params: { toolCall, options } }) => {
    const diff = toolCall.content?.find(({ type }) => type === 'diff')
    if (diff?.type === 'diff') say(`  asks: ${toolCall.title}: ${diff.oldText} -> ${diff.newText}`)
    say(`  choices: ${options.map(({ name }) => name).join(' | ')}`)
    return { outcome: { outcome: 'selected', optionId: options[0]?.optionId ?? '' } }
  })
  .onRequest(methods.client.fs.readTextFile, ({ params: { path } }) => {
    say(`  reads ${path}`)
    return { content: open.get(path) ?? '' }
  })
  .onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
    say(`  writes ${path}`)
    open.set(path, content)
    return {}
  })

const stream = ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>)
await editor.connectWith(stream, async (agent) => {
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true } }
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities })
  const { sessionId, modes } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })
  say(`new session in ~, mode ${modes?.currentModeId}`)
  const text = 'Mend the spelling in @note.txt'
  say(`you: ${text}`)
  const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })
  say(`ends: ${answer.stopReason}`)
  say(`the editor has: ${open.get(file)?.trim()}`)
})
await server.close()
await host.stop()
await rm(cwd, { recursive: true })
