// `shell.run` with real commands: what it shows, how it ends whatever the command does, and what the sandbox hides from
// it.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonValue } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { leaveOut } from '@baton/testing/left-out'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { ShellOptions } from './shell-tool.ts'
import type { WorkspaceOptions } from './workspace-tools.ts'
import { workspaceTools } from './workspace-tools.ts'

let place = ''
let root = ''

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-shell-'))
  root = join(place, 'root')
  mkdirSync(join(root, 'src'), { recursive: true })
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

const find = (shell: ShellOptions, options: Partial<WorkspaceOptions> = {}) => {
  const tool = workspaceTools({ root, shell, ...options }).find(({ name }) => name === 'shell.run')
  if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType))
    throw new Error('none')
  return { tool, execute: tool.execute, input: tool.input, output: tool.output }
}

interface Result {
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly output: string
  readonly truncated: boolean
  readonly withheld?: boolean
  readonly signal?: string
  readonly sandbox: string
}

interface Run {
  readonly shell?: ShellOptions
  readonly options?: Partial<WorkspaceOptions>
  readonly signal?: AbortSignal
  readonly notes?: JsonValue[]
}

const OPEN: ShellOptions = { sandbox: 'none' }

async function run(input: object, { shell = OPEN, options, signal, notes }: Run = {}): Promise<Result> {
  const { execute, input: schema, output } = find(shell, options)
  const context = createToolContext({ signal: signal ?? new AbortController().signal })
  const told = { ...context, progress: (note: JsonValue) => void notes?.push(note) }
  const result = await execute(schema.parse(input), told)
  expect(output.parse(result)).toEqual(result)
  return result as Result
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A zombie process does not count.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

test('a function of the command says whether a person is asked', async () => {
  const { tool, input } = find({ approval: ({ command, folder }) => command !== 'npm test' || folder !== '.' })
  const asks = async (arguments_: object) =>
    typeof tool.approval === 'function' ? await tool.approval(input.parse(arguments_), {} as never) : tool.approval
  expect(await asks({ command: 'npm test' })).toBe(false)
  expect(await asks({ command: 'npm test', folder: 'src' })).toBe(true)
  expect(await asks({ command: 'npm test; rm -r src' })).toBe(true)
})

test('asks for approval by default, shows the command, and is untrusted', () => {
  const { tool } = find({})
  expect(tool).toMatchObject({
    approval: true,
    effect: 'once',
    kind: 'execute',
    trust: 'untrusted',
    timeoutMs: 127_500,
  })
  expect(tool.describe?.({ command: 'ls', folder: 'src' })).toEqual({ title: 'Run in src: ls' })
  expect(() => workspaceTools({ root, shell: { timeoutMs: 0 } })).toThrow(/greater than 0/)
})

test('output and errors come in their order, with the code', async () => {
  expect(await run({ command: 'echo one; echo two >&2; pwd; exit 3', folder: 'src' })).toEqual({
    exitCode: 3,
    timedOut: false,
    output: `one\ntwo\n${join(root, 'src')}\n`,
    truncated: false,
    sandbox: 'none',
  })
})

test('nothing of the environment, but what is given', async () => {
  vi.stubEnv('SECRET_OF_THIS_PROCESS', 'x')
  const { output } = await run({ command: 'env | cut -d= -f1 | sort' }, { shell: { ...OPEN, env: { CI: '1' } } })
  vi.unstubAllEnvs()
  expect(output.split('\n')).toEqual(expect.arrayContaining(['CI', 'HOME', 'LANG', 'PATH', 'TMPDIR']))
  expect(output).not.toContain('SECRET')
})

test('much output keeps its beginning and its end; colours are taken out; watchers see it as it comes', async () => {
  const notes: JsonValue[] = []
  const command = `printf '\\033[31mred\\033[0m\\n'; head -c 3000000 /dev/zero | tr '\\0' 'x'; echo; echo end`
  const result = await run({ command }, { options: { limits: { shellOutputBytesMax: 4000 } }, notes })
  expect(result.truncated).toBe(true)
  expect(result.output).toMatch(/^red\nx+\n\[2996\d\d\d bytes omitted\]\nx+\nend\n$/)
  expect(result.output.length).toBeLessThan(4_100)
  expect(notes.length).toBeGreaterThan(0)
  expect(Math.max(...notes.map((note) => JSON.stringify(note).length))).toBeLessThan(4096)
})

test('output that has a token is withheld', async () => {
  const token = `ghp_${'A1b2C3d4E5f6G7h8I9j0'.repeat(2).slice(0, 36)}`
  expect(await run({ command: `echo ${token}` })).toMatchObject({ output: '', withheld: true, exitCode: 0 })
})

describe('a command that does not end', () => {
  const HANGS = 'trap "" TERM; sleep 1000 & echo $! > pid; echo here; wait; sleep 1000'
  const pid = (): number => Number(readFileSync(join(root, 'pid'), 'utf8'))

  test('is ended at its deadline with all that it started, and what it said is kept', async () => {
    const result = await run({ command: HANGS, timeoutMs: 500 })
    expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL', output: 'here\n' })
    await expect.poll(() => isAlive(pid())).toBe(false)
  })

  test('is ended when its call is cancelled', async () => {
    const cancel = new AbortController()
    const running = run({ command: HANGS }, { signal: cancel.signal })
    await expect.poll(() => existsSync(join(root, 'pid')) && pid() > 0).toBe(true)
    cancel.abort()
    expect(await running).toMatchObject({ timedOut: false, exitCode: null })
    await expect.poll(() => isAlive(pid())).toBe(false)
  })

  test('in the background ends with the command that started it', async () => {
    expect(await run({ command: 'sleep 1000 & echo $! > pid; echo started' })).toMatchObject({
      exitCode: 0,
      output: 'started\n',
    })
    await expect.poll(() => isAlive(pid())).toBe(false)
  })
})

test.each([
  [{ command: 'true', folder: '..' }, 'path_outside_workspace'],
  [{ command: 'true', folder: '.git' }, 'path_protected'],
  [{ command: 'true', folder: 'file' }, 'tool_failed'],
])('%o is refused', async (input, code) => {
  mkdirSync(join(root, '.git'))
  writeFileSync(join(root, 'file'), '')
  await expect(run(input)).rejects.toMatchObject({ code })
})

const BOXED: ShellOptions = { sandbox: 'required' }
/** Bubblewrap depends on the machine, and some containers forbid it. */
function findBox(): true | undefined {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', '--dev', '/dev', '--unshare-all', 'true'], { stdio: 'pipe' })
    return true
  } catch (cause) {
    const why = `bubblewrap cannot be used: ${String(cause).slice(0, 200)}`
    return leaveOut('the sandbox of shell.run', { why, remedy: 'Install bubblewrap to run it.' }, console.warn)
  }
}

describe.runIf(findBox())('in the sandbox', () => {
  test('it changes the workspace, and nothing else', async () => {
    writeFileSync(join(place, 'outside'), 'outside')
    symlinkSync(join(place, 'outside'), join(root, 'link'))
    const command = `echo in > made; cat ${place}/outside link; ls ${place}; echo x > /usr/x; echo x > /etc/x; cat /etc/shadow; ls /root /home; true`
    const result = await run({ command }, { shell: BOXED })
    expect(result).toMatchObject({ sandbox: 'bubblewrap', exitCode: 0 })
    expect(result.output).not.toMatch(/^(outside|root:)/m)
    expect(result.output).toMatch(/\/usr\/x: Read-only file system/)
    expect(result.output.match(/No such file or directory|Permission denied/g)?.length).toBeGreaterThanOrEqual(3)
    expect(readFileSync(join(root, 'made'), 'utf8')).toBe('in\n')
    expect(readFileSync(join(place, 'outside'), 'utf8')).toBe('outside')
  })

  test('hooks and settings of git, which run later and outside, stay as they are', async () => {
    mkdirSync(join(root, '.git/hooks'), { recursive: true })
    writeFileSync(join(root, '.git/config'), '[core]\n')
    const command = 'echo evil > .git/hooks/pre-commit; echo evil >> .git/config; echo kept > .git/HEAD'
    await run({ command }, { shell: BOXED })
    expect([existsSync(join(root, '.git/hooks/pre-commit')), readFileSync(join(root, '.git/config'), 'utf8')]).toEqual([
      false,
      '[core]\n',
    ])
    expect(readFileSync(join(root, '.git/HEAD'), 'utf8')).toBe('kept\n')
  })

  test.each([
    [
      'the folder of git is moved away and made anew',
      'mv .git old && cp -r old .git; echo evil > .git/config; echo evil > .git/hooks/pre-commit',
    ],
    [
      'hooks and settings are made where there are none',
      'mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > .git/config',
    ],
    ['settings are taken from another folder', 'mkdir evil; echo ../evil > .git/commondir'],
  ])('git runs nothing of a command later, though %s', async (situation, command) => {
    const hasAll = !situation.includes('there are none')
    mkdirSync(join(root, hasAll ? '.git/hooks' : '.git'), { recursive: true })
    if (hasAll) writeFileSync(join(root, '.git/config'), '[core]\n')
    expect(await run({ command }, { shell: BOXED })).toMatchObject({ sandbox: 'bubblewrap' })
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe(hasAll ? '[core]\n' : '')
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(false)
    expect(existsSync(join(root, '.git/commondir'))).toBe(false)
  })

  describe('repositories in the folder, as git itself makes them', () => {
    const git = (folder: string, ...words: readonly string[]): string =>
      execFileSync('git', ['-c', 'protocol.file.allow=always', '-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
        cwd: join(root, folder),
        encoding: 'utf8',
        stdio: 'pipe',
      })

    function makeRepositories(): void {
      for (const folder of ['lib', 'deep/inner']) {
        mkdirSync(join(root, folder), { recursive: true })
        git(folder, 'init', '-q')
        git(folder, 'commit', '-q', '--allow-empty', '-m', 'first')
      }
      git('', 'init', '-q')
      git('', 'submodule', '--quiet', 'add', './lib', 'parts/lib')
      git('', 'commit', '-q', '-m', 'all')
      git('', 'worktree', 'add', '-q', 'tree')
    }

    const PLANTED = [
      'deep/inner/.git/hooks/post-commit',
      'lib/.git/hooks/post-commit',
      '.git/modules/parts/lib/hooks/post-commit',
      '.git/worktrees/tree/hooks/post-commit',
      '.git/hooks/post-commit',
    ]
    const EVIL = `printf '#!/bin/sh\\necho ran >> ${'$'}PLACE/ran\\n'`

    test.each([
      [
        'its hooks are written',
        PLANTED.map((path) => `mkdir -p $(dirname ${path}); ${EVIL} > ${path}; chmod +x ${path}`).join('\n'),
      ],
      [
        'its settings name other hooks',
        ['deep/inner/.git', 'lib/.git', '.git/modules/parts/lib', '.git', '.git/worktrees/tree']
          .flatMap((folder) => [`${folder}/config`, `${folder}/config.worktree`])
          .map(
            (path) =>
              `printf '[core]\\n hooksPath = '$PWD'/evil\\n[extensions]\\n worktreeConfig = true\\n' >> ${path}`,
          )
          .concat('mkdir evil', `${EVIL} > evil/post-commit`, 'chmod +x evil/post-commit')
          .join('\n'),
      ],
      [
        'a folder above it is swapped',
        `mv deep old; mkdir -p deep; cp -r old/inner deep/inner; ${EVIL} > deep/inner/.git/hooks/post-commit; chmod +x deep/inner/.git/hooks/*
         mv .git/modules m; cp -r m .git/modules; ${EVIL} > .git/modules/parts/lib/hooks/post-commit; chmod +x .git/modules/parts/lib/hooks/*`,
      ],
      [
        'it is led to another repository',
        `cp -r lib/.git evil.git; ${EVIL} > evil.git/hooks/post-commit; chmod +x evil.git/hooks/*
         for file in parts/lib/.git tree/.git; do echo "gitdir: $PWD/evil.git" > $file; done
         for folder in lib/.git deep/inner/.git .git/modules/parts/lib .git/worktrees/tree; do echo $PWD/evil.git > $folder/commondir; done`,
      ],
    ])('run nothing of a command later, though %s', async (_, script) => {
      makeRepositories()
      const command = script.replaceAll('$PLACE', place)
      expect(await run({ command }, { shell: BOXED })).toMatchObject({ sandbox: 'bubblewrap' })
      for (const folder of ['', 'lib', 'deep/inner', 'parts/lib', 'tree'])
        try {
          git(folder, 'commit', '-q', '--allow-empty', '-m', 'by a person')
        } catch {
          // the command broke it, which is allowed
        }
      expect(existsSync(join(place, 'ran'))).toBe(false)
    })

    test('are worked with as before', async () => {
      makeRepositories()
      const words = '-c user.name=a -c user.email=a@b commit -q --allow-empty -m "by a model"'
      const command = ['.', 'lib', 'deep/inner', 'parts/lib', 'tree']
        .map((folder) => `git -C ${folder} ${words}`)
        .join(' && ')
      expect(await run({ command }, { shell: BOXED })).toMatchObject({ exitCode: 0 })
      expect(git('deep/inner', 'log', '--format=%s')).toBe('by a model\nfirst\n')
    })
  })

  test('a file that a command leaves has no set-user-id bits; one of before keeps its own', async () => {
    writeFileSync(join(root, 'before'), '')
    chmodSync(join(root, 'before'), 0o4755)
    utimesSync(join(root, 'before'), 1, 1)
    await new Promise((resolve) => void setTimeout(resolve, 2500)) // its change must be older than the command
    await run(
      { command: 'cp /bin/true made; chmod 6755 made; mkdir deep; cp made deep/x; chmod u+s deep/x' },
      { shell: BOXED },
    )
    const modes = ['made', 'deep/x', 'before'].map((path) => (statSync(join(root, path)).mode & 0o7777).toString(8))
    expect(modes).toEqual(['755', '755', '4755'])
  })

  test('more repositories than can be guarded are said', async () => {
    for (let count = 0; count < 501; count++) mkdirSync(join(root, String(count), '.git'), { recursive: true })
    const result = await run({ command: 'true' }, { shell: BOXED })
    rmSync(join(root, '0'), { recursive: true })
    expect([result, await run({ command: 'true' }, { shell: BOXED })]).toEqual([
      expect.objectContaining({ sandbox: 'bubblewrap', unguarded: true }),
      expect.not.objectContaining({ unguarded: true }),
    ])
  })

  test('the file that leads a work tree to its repository stays as it is', async () => {
    writeFileSync(join(root, '.git'), 'gitdir: /elsewhere\n')
    await run({ command: 'echo "gitdir: evil" > .git; mv .git old; mkdir evil' }, { shell: BOXED })
    expect(readFileSync(join(root, '.git'), 'utf8')).toBe('gitdir: /elsewhere\n')
  })

  test.each([
    ['no network unless it is allowed', false, 0],
    ['the network where it is allowed', true, 1],
  ])('%s', async (_, network, connections) => {
    let seen = 0
    const server = createServer((socket) => {
      seen += 1
      socket.end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    await run({ command: `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3` }, { shell: { ...BOXED, network } })
    server.close()
    expect(seen).toBe(connections)
  })

  test('a command that is cancelled while its repositories are looked for does not start', async () => {
    const cancel = new AbortController()
    const { signal } = cancel
    // Cancelled at once after the tool has asked, and so before the command is prepared.
    Object.defineProperty(signal, 'aborted', {
      get: () => {
        delete (signal as { aborted?: boolean }).aborted
        queueMicrotask(() => cancel.abort())
        return false
      },
      configurable: true,
    })
    const command = 'echo ran > ran'
    await expect(run({ command }, { shell: BOXED, signal })).rejects.toMatchObject({ code: 'cancelled' })
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })

  test('a place that the owner names can be read, and no more', async () => {
    mkdirSync(join(place, 'tools'))
    writeFileSync(join(place, 'tools/words'), 'words')
    const shell = { ...BOXED, readable: [join(place, 'tools')] }
    const command = `cat ${place}/tools/words; echo x > ${place}/tools/words`
    expect((await run({ command }, { shell })).output).toMatch(/^words.*Read-only file system/)
  })

  test('a deadline ends all of it', async () => {
    const result = await run({ command: 'setsid sleep 987654 & sleep 987654', timeoutMs: 500 }, { shell: BOXED })
    expect(result.timedOut).toBe(true)
    const processes = (): string => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    await expect.poll(() => processes()).not.toContain('sleep 987654')
  })
})

test('a bubblewrap inside of the workspace is not started, although the PATH leads there', async () => {
  const fake = join(root, 'node_modules/.bin')
  mkdirSync(fake, { recursive: true })
  writeFileSync(join(fake, 'bwrap'), `#!/bin/sh\necho ran > ${place}/ran\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${fake}:${process.env['PATH']}`)
  await run({ command: 'true' }, { shell: { sandbox: 'auto' } })
  vi.unstubAllEnvs()
  expect(existsSync(join(place, 'ran'))).toBe(false)
})

test('where the sandbox is required and is not there, nothing runs', async () => {
  vi.stubEnv('PATH', '/nowhere')
  const failed = await run({ command: 'echo ran > made' }, { shell: BOXED }).catch((cause: unknown) => cause)
  const open = await run({ command: 'echo ran' }, { shell: { sandbox: 'auto' } })
  vi.unstubAllEnvs()
  expect(failed).toMatchObject({
    code: 'tool_failed',
    message: expect.stringMatching(/only in a sandbox here.*"bwrap" is not installed/) as string,
  })
  expect(existsSync(join(root, 'made'))).toBe(false)
  expect(open).toMatchObject({ sandbox: 'none', output: 'ran\n' })
})
