// live.tsx - the live view: throughput, loss, vocabulary, memory and operational facts.

import { Column, entered, left, ring, stats } from "../../data/live";
import { NothingLearned, nothingLearned } from "../../ui/notice";
import { Facts } from "./facts";
import { MemoryPanel } from "./memory";
import { LossPanel, TidePanel, VocabularyPanel } from "./panels";
import { Ticker } from "./ticker";

export function LiveView() {
  const now = stats.value;
  if (!now) return <p class="waiting">Connecting…</p>;
  const times = ring.column(Column.time);
  return (
    <div class="live">
      {nothingLearned() ? <NothingLearned /> : <TidePanel stats={now} times={times} />}
      <div class="row-three">
        <LossPanel stats={now} times={times} />
        <VocabularyPanel stats={now} times={times} />
        <MemoryPanel memory={now.memory} />
      </div>
      <div class="row-tickers">
        <Ticker kind="entered" title="Entering" words={entered.value} />
        <Ticker kind="left" title="Leaving" words={left.value} />
        <Facts stats={now} />
      </div>
    </div>
  );
}
