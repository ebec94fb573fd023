// Whether the page is as narrow as on a phone, as its style decides it.
import { useEffect, useState } from 'preact/hooks'

const NARROW = '(max-width: 720px)'

export function useIsPhone(): boolean {
  const [isPhone, setPhone] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const follow = (): void => setPhone(query.matches)
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [])
  return isPhone
}
