// The program from the README, unchanged, with the agent; and the client's message if no server answers.
import { createHost } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { findPython } from '@baton/testing/python'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import agent from './agent.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const ADDRESS = 'ws://127.0.0.1:8080/ws'
const python = findPython('the README of the client in Python', console.warn)

async function run(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(python ?? '', ['-c', program], { cwd: FOLDER, timeout: 180_000 })
  return stdout
}

test.skipIf(python === undefined)('the program of the README prints what its tool says', async () => {
  const host = createHost({ agent, defaultModel: 'offline' })
  const front = createWebSocketFront(host, { port: 0 })
  onTestFinished(async () => {
    await front.close()
    await host.stop()
  })
  const { url } = await front.listen()
  const [, program = ''] = /```python\n(.*?)```/s.exec(readFileSync(`${FOLDER}README.md`, 'utf8')) ?? []
  expect(program).toContain(ADDRESS)
  expect(await run(program.replace(ADDRESS, url))).toMatch(/^rain\n/)
})

test.skipIf(python === undefined)('where nobody answers the session is given up, and says why', async () => {
  const program = [
    'import asyncio, baton_client',
    'baton_client.OPEN_SECONDS = 0.5',
    'async def main():',
    '    async with baton_client.Session("ws://127.0.0.1:1/ws?token=secret"): pass',
    'try:',
    '    asyncio.run(main())',
    'except ConnectionError as cause:',
    '    print(cause)',
  ]
  const told = await run(program.join('\n'))
  expect(told).toMatch(/^no session at ws:\/\/127\.0\.0\.1:1\/ws in 0\.5 s: .*(?:refused|Connect call failed)/i)
  expect(told).not.toContain('secret')
})
