// The page that tests of the hooks run: a small chat, as an app would write it, without JSX.

/** Its query names the server, the session, and `strict`. It records its actions in `told`. */
export const REACT_PAGE = `
import { createElement as h, StrictMode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { useDirectory, useSession } from '@baton/client/react'

const query = new URLSearchParams(location.search)
const told = (globalThis.told = { runs: 0, renders: 0, methods: new Set(), errors: [] })
const gate = new Promise((resolve) => { globalThis.openGate = resolve })

function readText(message) {
  return message.role === 'user'
    ? message.parts.map((part) => part.text).join('')
    : message.steps.map((step) => step.text).join(' | ')
}

function Chat({ session }) {
  const [count, setCount] = useState(0)
  const chat = useSession({
    url: query.get('server'),
    session,
    reconnect: { baseMs: 1, mostMs: 50 },
    tools: {
      'page.title': async () => {
        told.runs += 1
        await gate
        return document.title + ' ' + count
      },
    },
  })
  globalThis.chat = chat
  told.renders += 1
  told.methods.add(chat.send)
  useEffect(() => chat.on('error', ({ code }) => void told.errors.push(code)), [chat.on])
  return h('section', { 'data-status': chat.status, 'data-activity': chat.activity, 'data-loaded': String(chat.isLoaded) },
    h('button', { id: 'count', onClick: () => setCount(count + 1) }, String(count)),
    h('ol', null, chat.messages.map((message) =>
      h('li', { key: message.id, 'data-role': message.role, 'data-delivery': message.delivery ?? '' }, readText(message)))),
    chat.approvals.map(({ approvalId, name }) =>
      h('button', { key: approvalId, className: 'approve', onClick: () => void chat.decide({ approvalId, decision: 'approve' }) }, name)),
    chat.questions.map(({ questionId, message }) =>
      h('button', { key: questionId, className: 'answer', onClick: () => void chat.answer({ questionId, value: {} }) }, message)),
  )
}

function List() {
  const list = useDirectory({ url: query.get('server'), reconnect: { baseMs: 1, mostMs: 50 } })
  return h('ul', null, list.sessions.map(({ id }) => h('li', { key: id, className: 'session' }, id)))
}

function App() {
  const [session, setSession] = useState(query.get('session'))
  const [isShown, setShown] = useState(true)
  globalThis.setSession = setSession
  globalThis.setShown = setShown
  return h('div', null, isShown && h(Chat, { session }), query.has('list') && h(List))
}

const app = h(App)
createRoot(document.getElementById('root')).render(query.has('strict') ? h(StrictMode, null, app) : app)
`
