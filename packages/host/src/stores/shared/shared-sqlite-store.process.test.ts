// A SQLite store shared by several processes: who takes over the file, who keeps their sessions, and which sockets are
// not trusted. The stores of one process share a file as those of several do.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import { openSharedSqliteStore } from './shared-sqlite-store.ts'

let folder = ''
let path = ''
let stores: Store[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-shared-'))
  path = join(folder, 'store.db')
  stores = []
})
afterEach(async () => {
  for (const store of stores) await store.close()
  rmSync(folder, { recursive: true })
})

async function open(options: Parameters<typeof openSharedSqliteStore>[1] = {}): Promise<Store> {
  const store = await openSharedSqliteStore(path, { waitMs: 60_000, ...options })
  stores.push(store)
  return store
}

function record(pos: number, epoch: number, text = `note ${pos}`): SessionRecord {
  const input = { type: 'user-input', inputId: `input-${pos}` } as const
  return { version: 1, pos, nowMs: pos, epoch, input, facts: [{ type: 'note-queued', note: pos, text }] }
}

async function own(store: Store, session: string, owner: string): Promise<number> {
  const outcome = await store.acquire(session, owner)
  if (outcome.type !== 'acquired') throw new Error(`${session} is not acquired: ${outcome.type}`)
  return outcome.epoch
}

async function listTexts(store: Store, session: string): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const { facts } of store.read(session, 0))
    texts.push(facts[0]?.type === 'note-queued' ? facts[0].text : '')
  return texts
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (cause: { readonly code?: string }) => cause.code,
  )

test('guests keep their sessions when the holder closes, also while they wait for an answer', async () => {
  const [holder, one, two] = [await open(), await open(), await open()]
  const [first, second] = [await own(one, 'a', 'ann'), await own(two, 'b', 'bob')]
  await one.append('a', first, -1, [record(0, first)])
  const closing = holder.close()
  const appends = Array.from({ length: 40 }, (_, index) => one.append('a', first, index, [record(index + 1, first)]))
  expect(await Promise.all(appends)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  await closing
  expect(await two.append('b', second, -1, [record(0, second)])).toBe(0)
  // Neither can take over the other's session.
  expect(await one.acquire('b', 'ann')).toMatchObject({ type: 'held', owner: 'bob' })
  expect(await two.acquire('a', 'bob')).toMatchObject({ type: 'held', owner: 'ann' })
  expect(await listTexts(two, 'a')).toEqual(Array.from({ length: 41 }, (_, index) => `note ${index}`))
})

test('who opens the store when its holder has ended finds nothing to recover of those who live', async () => {
  const [holder, guest] = [await open(), await open()]
  const epoch = await own(guest, 'a', 'ann')
  await guest.append('a', epoch, -1, [record(0, epoch)])
  const closing = holder.close()
  const late = await open()
  await closing
  const found: string[] = []
  for await (const { session } of late.listRecoverable()) found.push(session)
  expect(found).toEqual([])
  expect(await late.acquire('a', 'eve')).toMatchObject({ type: 'held', owner: 'ann' })
  expect(await guest.append('a', epoch, 0, [record(1, epoch)])).toBe(1)
})

test('who opens the store asks for nothing before a living guest of the former holder is back', async () => {
  const former = await open()
  const epoch = await own(former, 'a', 'ann')
  await former.append('a', epoch, -1, [record(0, epoch)])
  await former.close()
  const self = { id: 'guest', pid: process.pid }
  writeFileSync(`${path}.processes`, JSON.stringify({ guests: [self] }), { mode: 0o600 })
  // Time stands still, so the wait for the guest never ends early.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  onTestFinished(() => void vi.restoreAllMocks())
  const taken = open().then((late) => late.acquire('a', 'eve'))
  await expect.poll(() => existsSync(`${path}.socket`)).toBe(true)
  // The write of another guest is queued behind every request of the opening process.
  const other = { version: 2, self: { ...self, id: 'other' }, held: [] }
  expect(await say([other, { id: 1, method: 'blobPut', args: ['b', 'x', 'y'] }], 2)).toMatch(/"welcome".*\n.*"id":1/)
  const held = [{ session: 'a', owner: 'ann', epoch }]
  expect(await say([{ version: 2, self, held }], 1)).toMatch(/"welcome"/)
  expect(await taken).toMatchObject({ type: 'held', owner: 'ann' })
})

/** The holder's answers to these messages, up to this many lines. */
async function say(messages: readonly object[], lines: number): Promise<string> {
  const socket = connect(`${path}.socket`)
  let heard = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (heard += piece))
  socket.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  await expect.poll(() => heard.split('\n').length - 1).toBe(lines)
  socket.destroy()
  return heard
}

test('a session that a guest has released, or another owner has acquired, does not return to it under the next holder', async () => {
  const [holder, guest] = [await open(), await open()]
  const released = await own(guest, 'released', 'ann')
  await guest.append('released', released, -1, [record(0, released)])
  await guest.release('released', released, 'work')
  await holder.close()
  expect(await guest.acquire('released', 'bob')).toMatchObject({ type: 'acquired' })
  await expect(guest.append('released', released, 0, [record(1, released)])).rejects.toMatchObject({
    code: 'store_conflict',
  })
})

test('a session that rests with a guest is free under the next holder too, and its guest takes it back', async () => {
  const [holder, guest] = [await open(), await open()]
  const epochs = [await own(guest, 'kept', 'ann'), await own(guest, 'taken', 'ann')]
  for (const [index, session] of ['kept', 'taken'].entries()) {
    await guest.append(session, epochs[index]!, -1, [record(0, epochs[index]!)])
    await guest.rest!(session, epochs[index]!)
  }
  const closing = holder.close()
  const late = await open()
  await closing
  const found: string[] = []
  for await (const { session } of late.listRecoverable()) found.push(session)
  expect(found).toEqual([])
  expect(await late.acquire('taken', 'eve')).toMatchObject({ type: 'acquired' })
  const resume = async (session: string, epoch: number) => await guest.resume!({ session, owner: 'ann', epoch, pos: 0 })
  expect(await resume('taken', epochs[1]!)).toBe(false)
  expect(await resume('kept', epochs[0]!)).toBe(true)
  expect(await guest.append('kept', epochs[0]!, 0, [record(1, epochs[0]!)])).toBe(1)
  expect(await late.acquire('kept', 'eve')).toMatchObject({ type: 'held', owner: 'ann' })
})

test('a process that lost the root acquires none of its children, and the next one takes those that it had', async () => {
  let nowMs = 5_000_000
  const [one, two] = [await open({ clock: { nowMs: () => nowMs } }), await open()]
  const under = async (store: Store, child: string, owner: string, rootEpoch: number) =>
    await store.acquire(child, owner, undefined, { root: 'root', rootEpoch })
  for (const [former, next] of [
    [one, two],
    [two, one],
  ] as const) {
    const old = await own(former, 'root', 'ann')
    const child = await under(former, 'child', 'ann', old)
    if (child.type !== 'acquired') throw new Error(child.type)
    expect(await next.acquire('root', 'bob')).toMatchObject({ type: 'held' })
    nowMs += former.leaseMs
    const epoch = await own(next, 'root', 'bob')
    expect(await former.append('child', child.epoch, child.pos, [record(child.pos + 1, child.epoch)])).toBe(
      child.pos + 1,
    )
    const taken = await under(next, 'child', 'bob', epoch)
    expect(taken).toMatchObject({ type: 'acquired', pos: child.pos + 1 })
    await expect(
      former.append('child', child.epoch, child.pos + 1, [record(child.pos + 2, child.epoch)]),
    ).rejects.toMatchObject({ code: 'store_conflict' })
    expect(await under(former, 'child', 'ann', old)).toEqual({ type: 'not-the-root' })
    expect(await under(former, 'new', 'ann', old)).toEqual({ type: 'not-the-root' })
    const children: string[] = []
    for await (const { session } of former.children('root')) children.push(session)
    expect(children).toEqual(['child'])
    await next.release('root', epoch)
  }
})

test('a guest goes on with the children of its root when the holder has ended, and they are found by nobody else', async () => {
  const [holder, guest] = [await open(), await open()]
  const rootEpoch = await own(guest, 'root', 'ann')
  const child = await guest.acquire('child', 'ann', undefined, { root: 'root', rootEpoch })
  if (child.type !== 'acquired') throw new Error(child.type)
  await guest.append('root', rootEpoch, -1, [record(0, rootEpoch)])
  const closing = holder.close()
  const late = await open()
  await closing
  expect(await guest.append('child', child.epoch, -1, [record(0, child.epoch)])).toBe(0)
  const again = await guest.acquire('child', 'ann', undefined, { root: 'root', rootEpoch })
  expect(again).toMatchObject({ type: 'acquired', pos: 0 })
  const found: string[] = []
  for await (const { session } of late.listRecoverable()) found.push(session)
  expect(found).toEqual([])
  await expect(late.acquire('child', 'eve')).rejects.toMatchObject({ code: 'illegal_input' })
  await expect(late.remove('root', 'eve')).rejects.toMatchObject({ code: 'session_held' })
  await guest.remove('root', 'ann')
  expect(await listTexts(late, 'child')).toEqual([])
})

test('an unshared store leaves no other files, and ignores one of an earlier process', async () => {
  // As after a power failure.
  writeFileSync(`${path}.processes`, '{"holder":{"id":"x","pid":4194305},"guests":[{"id":"y","pid":4194306}]}', {
    mode: 0o600,
  })
  const [holder, guest] = [await open(), await open()]
  expect(JSON.parse(readFileSync(`${path}.processes`, 'utf8'))).toMatchObject({
    holder: { pid: process.pid },
    guests: [{ pid: process.pid }],
  })
  for (const name of ['socket', 'processes']) expect(lstatSync(`${path}.${name}`).mode & 0o777).toBe(0o600)
  await own(guest, 'a', 'ann')
  await guest.close()
  await holder.close()
  expect(readdirSync(folder).toSorted()).toEqual(['store.db', 'store.db.lock'])
})

test('a store that is held by who does not share it is refused, with the file as it was', async () => {
  const alone = await openSqliteStore(path)
  stores.push(alone)
  await expect(openSharedSqliteStore(path, { waitMs: 200 })).rejects.toMatchObject({ code: 'store_locked' })
})

test('who needs the file alone is told which process has it', async () => {
  await open()
  await expect(openSqliteStore(path)).rejects.toMatchObject({
    code: 'store_locked',
    message: expect.stringContaining(`process ${process.pid} is using the store ${path}`) as string,
  })
})

test('a socket that others can reach, or that is none, is not believed', async () => {
  const asked: Socket[] = []
  const liar = createServer((socket) => void asked.push(socket))
  await new Promise<void>((resolve) => void liar.listen(`${path}.socket`, resolve))
  chmodSync(`${path}.socket`, 0o666)
  const alone = await openSqliteStore(path)
  await expect(openSharedSqliteStore(path, { waitMs: 200 })).rejects.toMatchObject({ code: 'store_locked' })
  expect(asked).toEqual([])
  // A link to a socket is not followed either.
  rmSync(`${path}.socket`)
  const elsewhere = join(folder, 'elsewhere')
  const other = createServer((socket) => void asked.push(socket))
  await new Promise<void>((resolve) => void other.listen(elsewhere, resolve))
  chmodSync(elsewhere, 0o600)
  symlinkSync(elsewhere, `${path}.socket`)
  await expect(openSharedSqliteStore(path, { waitMs: 200 })).rejects.toMatchObject({ code: 'store_locked' })
  expect(asked).toEqual([])
  await alone.close()
  // The process with the lock removes whatever is there.
  await open()
  await open()
  expect([lstatSync(`${path}.socket`).isSocket(), asked, existsSync(elsewhere)]).toEqual([true, [], true])
  liar.close()
  other.close()
})

test('a peer that talks nonsense, or another version, is let go, and the others are served', async () => {
  const holder = await open()
  const guest = await open()
  const say = async (text: string): Promise<string> => {
    const socket = connect(`${path}.socket`)
    let heard = ''
    socket.setEncoding('utf8').on('data', (piece: string) => (heard += piece))
    socket.write(text)
    await new Promise((resolve) => void socket.once('close', resolve))
    return heard
  }
  expect(await say('nonsense\n')).toBe('')
  expect(await say('[]\n')).toBe('')
  expect(JSON.parse(await say('{"version":99,"self":{"id":"x","pid":1}}\n'))).toEqual({ refused: 2, pid: process.pid })
  expect(JSON.parse(await say('{"id":1,"method":"close","args":[]}\n'))).toMatchObject({ refused: 2 })
  const hello = `{"version":2,"self":{"id":"x","pid":${process.pid}},"held":[{"session":1}]}\n`
  const answers = await say(`${hello}{"id":1,"method":"close","args":[]}\n{"bye":true}\n`)
  expect(answers).toMatch(/"welcome"/)
  const epoch = await own(guest, 'a', 'ann')
  expect(await guest.append('a', epoch, -1, [record(0, epoch)])).toBe(0)
  expect(await listTexts(holder, 'a')).toEqual(['note 0'])
})

test('more than passes between processes at once is refused by name, and the guest goes on', async () => {
  const [holder, guest] = [await open(), await open()]
  const large = 'x'.repeat(68_000_000)
  expect(await codeOf(guest.blobs.put('a', 'large', large))).toBe('store_failed')
  await expect(guest.blobs.put('a', 'large', large)).rejects.toThrow(/67108864 bytes/)
  await holder.blobs.put('a', 'large', large)
  await expect(guest.blobs.get('a', 'large')).rejects.toMatchObject({ code: 'store_failed' })
  await guest.blobs.put('a', 'small', 'x')
  expect(await guest.blobs.get('a', 'small')).toBe('x')
})

test('a path that is too long for a socket is one process’s alone, which is told', async () => {
  const deep = join(folder, 'a-folder-with-a-long-name-'.repeat(4))
  mkdirSync(deep)
  path = join(deep, 'store.db')
  const warnings: string[] = []
  await open({ onWarning: (message) => void warnings.push(message) })
  expect(warnings).toEqual([expect.stringMatching(/cannot be shared with other processes: .* at most 100/)])
  await expect(openSharedSqliteStore(path)).rejects.toMatchObject({ code: 'store_locked' })
})

test('endless leases are refused: a dead process would hold its sessions forever', async () => {
  await expect(openSharedSqliteStore(path, { leaseMs: Infinity })).rejects.toMatchObject({ code: 'invalid_option' })
})

test.each([-1, Infinity, NaN, '5'])('waitMs %j is refused', async (waitMs) => {
  const options = { waitMs } as { readonly waitMs: number } // wrong on purpose
  await expect(openSharedSqliteStore(path, options)).rejects.toMatchObject({ code: 'invalid_option' })
})

test('a guest that was closed refuses, and who closes twice waits once', async () => {
  const [holder, guest] = [await open(), await open()]
  await Promise.all([guest.close(), guest.close()])
  expect(await codeOf(guest.acquire('a', 'ann'))).toBe('store_failed')
  expect(await guest.health()).toMatchObject({ ok: false, code: 'store_failed' })
  expect(await holder.health()).toEqual({ ok: true })
})
