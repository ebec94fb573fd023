// Measures from inside the process that starts: an import (BENCH_IMPORT), or the program that Node was given until its
// output contains BENCH_UNTIL or it ends. Plain JavaScript, so that the probe itself needs no types stripped.
import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

const { BENCH_COUNT, BENCH_IMPORT, BENCH_UNTIL } = process.env
/** The parent reads reports here. */
const REPORTS = 3

if (BENCH_COUNT) process.stdout.write(`files ${await countFiles(BENCH_IMPORT)}\n`)
else if (BENCH_IMPORT) await measureImport(BENCH_IMPORT)
else if (BENCH_UNTIL) watchOutput(BENCH_UNTIL)
else process.on('exit', () => report())

async function measureImport(entry) {
  const [cpu, resident] = [process.cpuUsage(), process.memoryUsage.rss()]
  await import(entry)
  report(cpu, resident)
}

async function countFiles(entry) {
  let count = 0
  registerHooks({
    load: (url, context, next) => {
      if (!url.startsWith('node:')) count += 1
      return next(url, context)
    },
  })
  await import(entry)
  return count
}

function watchOutput(until) {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream)
    stream.write = (text, ...rest) => {
      if (String(text).includes(until)) report()
      return write(text, ...rest)
    }
  }
}

function report(cpu = { user: 0, system: 0 }, resident = 0) {
  const { user, system } = process.cpuUsage()
  const cpuMs = (user + system - cpu.user - cpu.system) / 1000
  writeSync(REPORTS, JSON.stringify({ cpuMs, residentBytes: process.memoryUsage.rss() - resident }))
}
