// `fs.write`, `fs.edit`, `fs.move` and `fs.delete` change one folder. The user approves each change unless the owner
// turns that off.
import type { ToolContext } from '@baton/core/internal'
import { checkFields, checkKinds, tool } from '@baton/core/internal'
import * as z from 'zod'
import { deleteEntry, moveEntry, readVersion, replaceFile } from './change-files.ts'
import { WORKSPACE_ERRORS, hiddenContent, refused } from './refused.ts'
import { SecretScan } from './secret-content.ts'
import type { TextForm } from './text-bytes.ts'
import { decodeText, encodeText, isUnmarkedUtf16, readLineEnds, readTextForm, withLineEnds } from './text-bytes.ts'
import type { EditedText } from './text-edits.ts'
import { applyEdits } from './text-edits.ts'
import { walk } from './walk.ts'
import { workspacePath } from './workspace-limits.ts'
import type { Guard, OpenedFile, Target, WorkspaceKit } from './workspace.ts'

/** Options of `writeTools`. Without any, each change asks the user. */
export interface WriteOptions {
  /** Set to `false` to make changes without asking the user. Defaults to `true`. */
  readonly approval?: boolean
}

const EDITS_MAX = 100

const somePath = workspacePath.min(1)

/** @throws BatonError `invalid_option` */
export function writeTools(kit: WorkspaceKit, options: WriteOptions) {
  const what = 'workspaceTools: write'
  checkFields(options, { what, code: 'invalid_option', fields: new Set(['approval']) })
  checkKinds(options, { what, code: 'invalid_option', kinds: { approval: 'true or false' } })
  const { approval = true } = options
  return [writeTool(kit, approval), editTool(kit, approval), moveTool(kit, approval), deleteTool(kit, approval)]
}

function writeTool(kit: WorkspaceKit, approval: boolean) {
  const { workspace, limits } = kit
  return tool({
    name: 'fs.write',
    description:
      'Write a whole text file of the workspace: creates it with any missing folders, or replaces it, keeping its encoding and line ends. Use fs.edit to change a part.',
    title: 'Write a file',
    kind: 'edit',
    // Writing the same content again changes nothing.
    effect: 'idempotent',
    trust: 'trusted', // results contain no file text
    network: false,
    errors: WORKSPACE_ERRORS,
    input: z.object({
      path: somePath.describe('File, relative to the root of the workspace'),
      content: z.string().max(limits.writtenBytesMax).describe('The complete file'),
    }),
    output: z.object({ path: z.string(), created: z.boolean(), bytes: z.int() }),
    approval: async ({ path }) => asksFor(kit, approval, path),
    describe: ({ path, content }) => ({
      title: workspace.exists(path) ? `Replace all of ${path}` : `Write ${path}`,
      locations: [{ path }],
      destination: workspace.normalise(path),
      // A diff would put the lost content into records, and the file may contain what must not be recorded.
      ...(!workspace.exists(path) && { diff: [{ path, oldText: null, newText: content }] }),
    }),
    execute: ({ path, content }, context) =>
      workspace.changeAlone(async () => {
        const target = await locate(kit, path)
        if (target.isFolder) throw refused('tool_failed', `"${path}" is a folder, not a file`)
        const { readTextFile, writeTextFile } = kit.editor
        const place = workspace.toAbsolute(target.path)
        const before = target.exists
          ? await readBefore(kit, target, writeTextFile ? readTextFile : undefined)
          : undefined
        const text = withLineEnds(content, before?.lineEnds)
        const bytes = encode(text, limits.writtenBytesMax, before?.form)
        checkWanted(context)
        if (writeTextFile) await writeTextFile(place, text)
        else await replaceFile(workspace, target, { content: bytes })
        return { path: target.path, created: !target.exists, bytes: bytes.length }
      }),
  })
}

function editTool(kit: WorkspaceKit, approval: boolean) {
  const { workspace, limits } = kit
  const options = { shows: kit.trust === 'trusted' }
  const edit = z.object({
    oldText: z.string().min(1).describe('Exact text to replace, including whitespace'),
    newText: z.string(),
    all: z.boolean().optional().describe('True to replace every occurrence. Otherwise there must be exactly one'),
  })
  return tool({
    name: 'fs.edit',
    description:
      'Change a text file of the workspace by exact replacements, in order, all or none. Read the lines first.',
    title: 'Edit a file',
    kind: 'edit',
    effect: 'once',
    trust: 'trusted', // results contain no file text, nor do errors of an untrusted file
    network: false,
    errors: WORKSPACE_ERRORS,
    input: z.object({
      path: somePath.describe('File, relative to the root of the workspace'),
      edits: z.array(edit).min(1).max(EDITS_MAX).describe('Replacements, in order'),
    }),
    output: z.object({
      path: z.string(),
      replaced: z.int().describe('Number of places changed'),
      bytes: z.int(),
      near: z
        .array(z.object({ edit: z.int(), line: z.int() }))
        .optional()
        .describe(
          'Edits whose text had other quotes, dashes, spaces or tabs in the file; they were applied: check these lines',
        ),
    }),
    approval: async ({ path }) => asksFor(kit, approval, path),
    describe: ({ path, edits }) => ({
      title: edits.length === 1 ? `Edit ${path}` : `Edit ${path} in ${edits.length} places`,
      locations: [{ path }],
      destination: workspace.normalise(path),
      diff: edits.map(({ oldText, newText }) => ({ path, oldText, newText })),
    }),
    execute: ({ path, edits }, context) =>
      workspace.changeAlone(async () => {
        const guard = workspace.guard()
        const target = await locate(kit, path, guard)
        if (!target.exists)
          throw refused('tool_failed', `"${path}" does not exist in the workspace; fs.write creates new files`)
        const edited = await editInEditor(kit, target, (text) => applyEdits(text, edits, options), context)
        if (edited) return edited
        return await workspace.readFile(target.path, guard, async (file) => {
          const expected = readVersion(await file.handle.stat({ bigint: true }))
          const before = await readText(kit, file)
          const edited = applyEdits(before.text, edits, options)
          const content = encode(edited.text, limits.writtenBytesMax, before.form)
          checkWanted(context)
          await replaceFile(workspace, target, { content, expected })
          return describeEdit(target, edited, content.length)
        })
      }),
  })
}

/** Returns `undefined` if no editor handles it, and the file is changed here. */
async function editInEditor(
  { workspace, limits, editor }: WorkspaceKit,
  target: Target,
  apply: (text: string) => EditedText,
  context: ToolContext,
) {
  const { readTextFile, writeTextFile } = editor
  if (!readTextFile || !writeTextFile || target.isFolder) return undefined
  const place = workspace.toAbsolute(target.path)
  const before = await readTextFile(place)
  const scan = new SecretScan()
  if (!workspace.isAllowed(target.path) && ((await scan.take(before)) || (await scan.judge())))
    throw hiddenContent(target.path)
  const edited = apply(before)
  const { length: bytes } = encode(edited.text, limits.writtenBytesMax)
  checkWanted(context)
  await writeTextFile(place, edited.text)
  return describeEdit(target, edited, bytes)
}

function describeEdit({ path }: Target, { replaced, near }: EditedText, bytes: number) {
  return { path, replaced, bytes, ...(near.length > 0 && { near }) }
}

function moveTool(kit: WorkspaceKit, approval: boolean) {
  const { workspace } = kit
  return tool({
    name: 'fs.move',
    description: 'Move or rename a file or folder of the workspace. Nothing is overwritten.',
    title: 'Move a file or folder',
    kind: 'move',
    effect: 'once',
    trust: 'trusted', // results contain no file text
    network: false,
    errors: WORKSPACE_ERRORS,
    input: z.object({
      from: somePath.describe('File or folder, relative to the root of the workspace'),
      to: somePath.describe('The new path, including its name'),
    }),
    output: z.object({ from: z.string(), to: z.string() }),
    approval: async ({ from, to }) => (await asksFor(kit, approval, from)) && (await asksFor(kit, approval, to)),
    describe: ({ from, to }) => ({
      title: `Move ${from} to ${to}`,
      // Names no destination: one approval would allow moving any file there.
      locations: [{ path: from }, { path: to }],
    }),
    execute: ({ from, to }, context) =>
      workspace.changeAlone(async () => {
        const source = await locateExisting(kit, from, context)
        const place = await locate(kit, to)
        // There, a model may read what it may not read here: a file whose content looks like a secret.
        const inside = source.isFolder ? `${place.path}/any` : place.path
        if (workspace.isAllowed(inside) && !workspace.isAllowed(source.path))
          throw refused(
            'path_protected',
            `everything in "${to}" is readable to you, so a person must move "${from}" there`,
          )
        checkWanted(context)
        await moveEntry(workspace, source, place)
        return { from: source.path, to: place.path }
      }),
  })
}

function deleteTool(kit: WorkspaceKit, approval: boolean) {
  const { workspace } = kit
  return tool({
    name: 'fs.delete',
    description: 'Delete a file of the workspace, or a folder with all its contents. It cannot be undone.',
    title: 'Delete a file or folder',
    kind: 'delete',
    effect: 'once',
    trust: 'trusted', // results contain no file text
    network: false,
    errors: WORKSPACE_ERRORS,
    input: z.object({
      path: somePath.describe('File or folder, relative to the root of the workspace'),
      recursive: z.boolean().default(false).describe('Required for a folder: all its contents are deleted too'),
    }),
    output: z.object({ path: z.string(), deleted: z.enum(['file', 'folder']) }),
    approval: async ({ path }) => asksFor(kit, approval, path),
    describe: ({ path, recursive }) => ({
      title: recursive ? `Delete ${path} and all its contents` : `Delete ${path}`,
      locations: [{ path }],
      destination: workspace.normalise(path),
    }),
    execute: ({ path, recursive }, context) =>
      workspace.changeAlone(async () => {
        const target = await locateExisting(kit, path, context)
        if (target.isFolder && !recursive)
          throw refused('tool_failed', `"${path}" is a folder; set recursive: true to delete all its contents`)
        checkWanted(context)
        await deleteEntry(workspace, target)
        return { path: target.path, deleted: target.isFolder ? ('folder' as const) : ('file' as const) }
      }),
  })
}

/**
 * Asked right before a change: its call may have waited for others. A result would tell the model that it was made.
 * @throws BatonError `cancelled`
 */
function checkWanted({ signal }: ToolContext): void {
  if (signal.aborted) throw refused('cancelled', 'the call was cancelled before it changed anything')
}

/** Forbidden changes are refused before anyone is asked. */
async function asksFor(kit: WorkspaceKit, approval: boolean, path: string): Promise<boolean> {
  await locate(kit, path)
  return approval
}

/** @throws BatonError `path_outside_workspace`, `path_protected`, `invalid_arguments`, `tool_failed` */
async function locate({ workspace }: WorkspaceKit, path: string, guard?: Guard): Promise<Target> {
  const target = await workspace.locateTarget(path, guard ?? workspace.guard())
  if (!target.exists && UNSHOWABLE.test(target.path))
    throw refused(
      'invalid_arguments',
      `the new name ${JSON.stringify(path)} contains invisible characters; remove them`,
    )
  if (target.path.split('/').some(decidesWhatIsShown) && !workspace.isAllowed(target.path))
    throw refused(
      'path_protected',
      `"${path}" decides what you are shown, so a person must change it; continue without it`,
    )
  const reserved = target.exists ? undefined : target.missing.find(isReservedName)
  if (reserved !== undefined)
    throw refused(
      'invalid_arguments',
      `"${reserved}" is not a valid name on Windows (a device, or ending in a dot or space); choose another one`,
    )
  return target
}

/**
 * Windows devices, whatever follows the first dot, and names whose end Windows ignores.
 * https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file
 */
function isReservedName(name: string): boolean {
  return /[. ]$/.test(name) || /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|:|$)/i.test(name)
}

/**
 * Characters that control a terminal or reverse the order of letters: with them, a person would approve a wrong name.
 */
const UNSHOWABLE = /[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u

/** Some systems ignore trailing spaces and dots, and invisible characters in names. */
function decidesWhatIsShown(name: string): boolean {
  return /^\.git(ignore|attributes)$/i.test(name.replaceAll(/\p{Cf}/gu, '').replace(/[. ]+$/, ''))
}

/**
 * A folder with hidden entries stays in place: elsewhere its files might be shown, and a deletion would lose them
 * unseen.
 */
async function locateExisting(kit: WorkspaceKit, path: string, context: ToolContext): Promise<Target> {
  const { workspace, limits } = kit
  const guard = workspace.guard()
  const target = await locate(kit, path, guard)
  if (!target.exists)
    throw refused('tool_failed', `"${path}" does not exist in the workspace; fs.list_dir shows what does`)
  if (!target.isFolder) return target
  const budget = kit.startBudget(context)
  const whole = { workspace, guard, from: target.path, depth: Infinity, withBytes: false, budget }
  // The walk looks for hidden entries.
  for await (const _ of walk(whole)) if (budget.hidden > 0) break
  if (budget.hidden > 0)
    throw refused(
      'path_protected',
      `"${path}" contains files that are ignored by git or may hold secrets, so a person must do it`,
    )
  if (budget.hasStopped || budget.unreadable > 0)
    throw refused(
      'tool_failed',
      `"${path}" is too large to check (${limits.walkedEntriesMax} entries, ${limits.timeMs} ms) or cannot be read; process its parts one by one`,
    )
  return target
}

function encode(text: string, most: number, form: TextForm = PLAIN): Uint8Array {
  if (!text.isWellFormed())
    throw refused('invalid_arguments', 'the text contains half of a character (a lone surrogate); nothing was written')
  const bytes = encodeText(text, form)
  if (bytes.length > most)
    throw refused('tool_failed', `the file would have ${bytes.length} bytes; the maximum is ${most}`)
  return bytes
}

const PLAIN: TextForm = { encoding: 'utf-8', hasMark: false }

interface Before {
  readonly form?: TextForm
  readonly lineEnds: ReturnType<typeof readLineEnds>
}

/**
 * Reads a file for the encoding and line ends that its new content keeps; `undefined` if it is binary, too large or
 * unreadable, in which case nothing is kept.
 * @throws BatonError `tool_failed` for text in an encoding that cannot be kept
 */
async function readBefore(
  { workspace, limits }: WorkspaceKit,
  target: Target,
  readTextFile: ((path: string) => Promise<string>) | undefined,
): Promise<Before | undefined> {
  if (readTextFile) return { lineEnds: readLineEnds(await readTextFile(workspace.toAbsolute(target.path))) }
  return await workspace.readFile(target.path, workspace.guard(), async ({ handle, bytes }) => {
    if (bytes > limits.writtenBytesMax) return undefined
    const content = await handle.readFile()
    const form = readTextForm(content)
    if (!form) refuseUnmarked(target.path, content)
    return form && { form, lineEnds: readLineEnds(decodeWhole(target.path, content, form)) }
  })
}

async function readText(
  { workspace, limits }: WorkspaceKit,
  file: OpenedFile,
): Promise<{ readonly text: string; readonly form: TextForm }> {
  if (file.bytes > limits.writtenBytesMax)
    throw refused(
      'tool_failed',
      `"${file.path}" has ${file.bytes} bytes; only files of up to ${limits.writtenBytesMax} bytes can be edited`,
    )
  const bytes = await file.handle.readFile()
  const form = readTextForm(bytes)
  if (!form) refuseUnmarked(file.path, bytes)
  if (!form) throw refused('tool_failed', `"${file.path}" is a binary file, not text; it cannot be edited`)
  const scan = new SecretScan()
  const isAllowed = workspace.isAllowed(file.path)
  if (!isAllowed && ((await scan.take(decodeText(bytes, form, false))) || (await scan.judge())))
    throw hiddenContent(file.path)
  return { text: decodeWhole(file.path, bytes, form), form }
}

/** @throws BatonError `tool_failed` */
function decodeWhole(path: string, bytes: Uint8Array, form: TextForm): string {
  try {
    return decodeText(bytes, form, true)
  } catch {
    const name = form.encoding === 'utf-8' ? 'UTF-8' : 'whole UTF-16'
    throw refused('tool_failed', `"${path}" is not ${name}; editing it would change other bytes. ${OTHER_FORM}`)
  }
}

/** @throws BatonError `tool_failed` */
function refuseUnmarked(path: string, bytes: Uint8Array): void {
  if (isUnmarkedUtf16(bytes))
    throw refused('tool_failed', `"${path}" is UTF-16 without a byte order mark, which cannot be kept. ${OTHER_FORM}`)
}

const OTHER_FORM = 'To convert it to UTF-8, delete it and write it again'
