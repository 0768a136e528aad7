// SPDX-License-Identifier: Apache-2.0
// A button that opens a short list. Arrow keys walk, Esc closes, focus returns.
import { useEffect, useId, useRef, useState, type ReactNode } from 'react'

export interface MenuItem {
  word: ReactNode
  act: (() => void) | undefined
  current?: boolean
  danger?: boolean
}

export function Menu({ button, items, label, className = 'btn', align = 'start', worded = false }: {
  button: ReactNode
  items: MenuItem[]
  label: string
  className?: string
  align?: 'start' | 'end'
  /** The button holds words of its own, which then are its name. */
  worded?: boolean
}) {
  const [open, set_open] = useState(false)
  const root = useRef<HTMLSpanElement>(null)
  const id = useId()
  useEffect(() => {
    if (!open) return
    root.current?.querySelector<HTMLElement>('[role=menuitem]:not([disabled])')?.focus()
    const away = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) set_open(false)
    }
    document.addEventListener('pointerdown', away)
    return () => document.removeEventListener('pointerdown', away)
  }, [open])
  const close = () => {
    set_open(false)
    root.current?.querySelector<HTMLElement>('button')?.focus()
  }
  return (
    <span
      className="menu"
      ref={root}
      onKeyDown={(event) => {
        if (!open) return
        if (event.key === 'Escape') {
          event.stopPropagation()
          close()
        }
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
          event.preventDefault()
          const all = [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]:not([disabled])') ?? [])]
          const index = all.indexOf(document.activeElement as HTMLElement)
          all[(index + (event.key === 'ArrowDown' ? 1 : -1) + all.length) % all.length]?.focus()
        }
      }}
    >
      <button type="button" className={className} aria-haspopup="menu" aria-expanded={open} aria-controls={open ? id : undefined} aria-label={worded ? undefined : label} title={label} onClick={() => set_open(!open)}>
        {button}
      </button>
      {open && (
        <span className={`menu-list ${align}`} role="menu" id={id}>
          {items.map((item, index) => (
            <button
              key={index}
              type="button"
              role="menuitem"
              disabled={!item.act}
              className={`${item.current ? 'current' : ''} ${item.danger ? 't-red' : ''}`}
              onClick={() => {
                close()
                item.act?.()
              }}
            >
              {item.word}
            </button>
          ))}
        </span>
      )}
    </span>
  )
}
