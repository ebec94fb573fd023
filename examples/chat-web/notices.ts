// Notices that the model pins to the page. They outlast a reload, so a duplicate would show.

const KEY = 'notices'

export function listNotices(): readonly string[] {
  return JSON.parse(localStorage.getItem(KEY) ?? '[]') as string[] // written below
}

export function addNotice(text: string): void {
  localStorage.setItem(KEY, JSON.stringify([...listNotices(), text]))
}
