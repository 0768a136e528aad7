// SPDX-License-Identifier: Apache-2.0
// What is worth drawing: things near the window, told by one observer per scrolling element, and drawn one per frame
// so that a page of a thousand charts never stops answering.
import { useEffect, useState } from 'react'

const margin_px = 300
/** What flies past on a fast scroll is not begun. */
const settle_ms = 80

class Watch {
  private readonly told = new Map<Element, (near: boolean) => void>()
  private readonly observer: IntersectionObserver

  constructor(root: Element | null) {
    this.observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) this.told.get(entry.target)?.(entry.isIntersecting)
      },
      { root, rootMargin: `${margin_px}px 0px` },
    )
  }

  add(element: Element, tell: (near: boolean) => void): () => void {
    this.told.set(element, tell)
    this.observer.observe(element)
    return () => {
      this.told.delete(element)
      this.observer.unobserve(element)
    }
  }
}

const watches = new WeakMap<Element, Watch>()

function watch_of(element: Element): Watch {
  // The margin only counts for the element that scrolls, not for the window around it.
  const root = element.closest('main') ?? document.documentElement
  let watch = watches.get(root)
  if (!watch) {
    watch = new Watch(root === document.documentElement ? null : root)
    watches.set(root, watch)
  }
  return watch
}

const turns: (() => void)[] = []

/** Runs the callbacks one per frame, in the order they came. */
function take_turn(act: () => void): () => void {
  turns.push(act)
  if (turns.length === 1) requestAnimationFrame(next_turn)
  return () => {
    const index = turns.indexOf(act)
    if (index >= 0) turns.splice(index, 1)
  }
}

function next_turn(): void {
  turns.shift()?.()
  if (turns.length) requestAnimationFrame(next_turn)
}

/** True while the element is near the window; becomes true one element per frame. */
export function useNear(element: Element | null, at_once = false): boolean {
  const [near, set_near] = useState(false)
  useEffect(() => {
    if (!element) return
    let stop = () => {}
    const unwatch = watch_of(element).add(element, (is_near) => {
      stop()
      if (!is_near || at_once) {
        set_near(is_near)
        return
      }
      let leave = () => {}
      const timer = setTimeout(() => {
        leave = take_turn(() => set_near(true))
      }, settle_ms)
      stop = () => {
        clearTimeout(timer)
        leave()
      }
    })
    return () => {
      stop()
      unwatch()
    }
  }, [element, at_once])
  return near
}
