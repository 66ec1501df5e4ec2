"""CocoRecall: find the one turn in a thousand agent transcripts.

    from cocorecall import Recall

    with Recall.open(".") as recall:
        recall.import_sources()
        for hit in recall.search("why did we set the threshold to 0.85?").hits:
            print(hit.turn_id, hit.source_exists, hit.text)

`Recall` is the one public door; everything it returns is a frozen dataclass of `cocorecall.model`.
"""
