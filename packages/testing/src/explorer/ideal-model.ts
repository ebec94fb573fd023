// A scripted model that explores as an expert would: it reads and cites only places that its calls have shown. All it knows beforehand is
// what to search for, and how a line looks that answers.
import type { JsonObject, JsonValue, ModelRequest } from '@baton/core'
import { isJsonObject, parseJson, readText } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import type { Question } from './questions.ts'

type Call = NonNullable<ScriptedStep['calls']>[number]

/** The steps of an exploration that answers these questions, and then says what the package is called. */
export function playIdeally(questions: readonly Question[]): (request: ModelRequest) => ScriptedStep {
  let step = 0
  return (request) => {
    if (request.instructions?.startsWith('Summarise')) return { text: 'The questions are being answered.' }
    step += 1
    const results = readResults(request)
    if (step === 1) return { calls: [call('session.analyze', {})] }
    if (step === 2) return { calls: [call('plan.set', { entries: questions.map(planEntry) })] }
    if (step === 3) return { calls: [call('fs.list_dir', { path: '.', depth: 2 })] }
    if (step === 4) return { calls: questions.map(search) }
    if (step === 5)
      return { calls: [...results.map((result, index) => readAround(result, questions[index])), readManifest()] }
    if (step === 6) return { calls: [report(results, questions)] }
    return { text: 'All questions are answered.' }
  }
}

function call(name: string, given: JsonObject): Call {
  return { name, arguments: given }
}

function planEntry({ text }: Question): JsonObject {
  return { content: text, tool: 'code.grep' }
}

function search({ pattern, pathPrefix }: Question): Call {
  return call('code.grep', { pattern, ...(pathPrefix !== undefined && { pathPrefix }) })
}

function readManifest(): Call {
  return call('content.get_span', { path: 'package.json' })
}

/** Reads the lines about the first match. */
function readAround(result: JsonValue, question: Question | undefined): Call {
  const [file] = listOf(result, 'files')
  const [line] = listOf(file, 'lines')
  const path = readField(file, 'path')
  const at = isJsonObject(line) ? Number(line['line']) : 1
  const around = question?.around ?? 0
  return call('content.get_span', { path, startLine: Math.max(1, at - around), endLine: at + around })
}

/** Cites the line, of those that were shown, that looks like an answer to each question. */
function report(results: readonly JsonValue[], questions: readonly Question[]): Call {
  const findings = results.map((result, index): JsonObject => {
    const [path, text] = [readField(result, 'path'), readField(result, 'text')]
    const start = isJsonObject(result) ? Number(result['startLine']) : 1
    const wanted = questions[index]?.truth ?? /"name":/
    const lines = text.split('\n')
    const found = lines.findIndex((line) => wanted.test(line))
    return {
      text: (lines[found] ?? 'not shown').trim().slice(0, 200),
      evidence: [{ path, line: start + Math.max(0, found) }],
    }
  })
  return call('explore.report', { findings })
}

function readField(value: JsonValue | undefined, name: string): string {
  const field = isJsonObject(value) ? value[name] : undefined
  return typeof field === 'string' ? field : ''
}

function listOf(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  const list = isJsonObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list : []
}

/** Of the newest calls, in their order. */
function readResults({ messages }: ModelRequest): readonly JsonValue[] {
  const last = messages.at(-1)
  if (last?.role !== 'tool') return []
  return last.parts.map(({ content }) => {
    const parsed = parseJson(readText(content))
    return parsed.ok ? parsed.value : null
  })
}
